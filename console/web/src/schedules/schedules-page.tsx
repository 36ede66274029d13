/** Everything that comes due: schedules, wakes, watches. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { namings, schedules } from "../api/queries";
import type { Schedule } from "../api/types";
import { Bones } from "../design/bones";
import { Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { Refused } from "../design/refused";
import { go, schedulesPath, usePage, workstreamPath } from "../shell/route";
import { useWalk } from "../shell/walk";
import { NewDialog } from "./new-dialog";
import { NextDue } from "./next-due";
import { ScheduleRow } from "./schedule-row";
import { ALL, VIEWS } from "./views";

const FAR = "9999";

export function SchedulesPage({ view }: { view: string }) {
  const query = useInfiniteQuery(schedules);
  const known = query.data?.pages.flatMap((page) => page.items);
  const [making, setMaking] = useState(false);
  usePage("schedules", "Schedules and watches");
  return (
    <>
      <header className="top">
        <h1>Schedules and watches</h1>
        <Views view={view} known={query.hasNextPage ? undefined : known} />
        <div className="acts">
          <button type="button" className="btn ink" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            New schedule
          </button>
        </div>
      </header>
      {making && <NewDialog onClose={() => setMaking(false)} />}
      {query.error && !known && <Refused error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Bones />}
      {known && known.length === 0 && <NoSchedule />}
      {known && known.length > 0 && (
        <div className="body">
          <NextDue schedules={known} />
          <List known={known} view={view} />
          {query.hasNextPage && (
            <button
              type="button"
              className="btn justify-self-start"
              aria-busy={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              Show more
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** Counts stand beside the views only where everything is known. */
function Views({ view, known }: { view: string; known: readonly Schedule[] | undefined }) {
  return (
    <nav className="tabs views self-end" aria-label="Views">
      {VIEWS.map((one) => (
        <a key={one.view} href={schedulesPath(one.view)} aria-current={one.view === view ? "page" : undefined}>
          {one.label}
          {known && <span className="n">{known.filter(one.holds).length}</span>}
        </a>
      ))}
    </nav>
  );
}

function List({ known, view }: { known: readonly Schedule[]; view: string }) {
  const { holds } = VIEWS.find((one) => one.view === view) ?? ALL;
  const items = known.filter(holds).sort(byDue);
  const names = useQuery(namings).data;
  const now = useNow();
  const at = useWalk(
    items.map((one) => one.id),
    (id) => {
      const schedule = items.find((one) => one.id === id);
      if (schedule) go(workstreamPath(schedule.workstream));
    },
  );
  if (items.length === 0) return <p className="muted">None of these.</p>;
  return (
    <section className="panel" aria-label="Schedules">
      <table className="tbl inpanel sc">
        <caption className="vh">Schedules and watches, the next due first</caption>
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">when</th>
            <th scope="col" aria-sort="ascending">
              next due
            </th>
            <th scope="col">last result</th>
            <th scope="col" className="num c-runs">
              runs
            </th>
            <th scope="col" className="act">
              <span className="vh">act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((schedule) => (
            <ScheduleRow
              key={schedule.id}
              schedule={schedule}
              naming={names?.get(schedule.workstream)}
              at={schedule.id === at}
              now={now}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What comes due first stands first, what never will stands last. */
function byDue(a: Schedule, b: Schedule): number {
  const [first, second] = [a, b].map((one) => (one.state === "active" ? (one.next_due ?? FAR) : FAR)) as [string, string];
  return first < second ? -1 : first > second ? 1 : a.name.localeCompare(b.name);
}

function NoSchedule() {
  return (
    <div className="body">
      <div className="empty">
        <h2>Nothing is scheduled</h2>
        <p className="muted">
          An agent makes schedules with <code>schedule_create</code>, <code>wake_after</code> or <code>watch</code>: ask one to
          look at something every hour, or to tell you when a file changes.
        </p>
      </div>
    </div>
  );
}
