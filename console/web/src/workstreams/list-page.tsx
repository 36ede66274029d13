/** All workstreams with their state, what they wait for and since when. */

import { useInfiniteQuery, useQuery, type InfiniteData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { overview, PAGE_SIZE, workstreams } from "../api/queries";
import type { Overview, Page, View } from "../api/types";
import { Bones } from "../design/bones";
import { Icon } from "../design/glyph";
import { Refused } from "../design/refused";
import { workstreamCount } from "../shell/counts";
import { go, listPath, NEEDS_ME, usePage } from "../shell/route";
import { parseFilter, querySearch, searchOf } from "./filter";
import { FilterField } from "./filter-field";
import { FirstRun } from "./first-run";
import { WorkstreamTable } from "./workstream-table";

export function ListPage({ search, onNew }: { search: string; onNew: () => void }) {
  const query = useInfiniteQuery(workstreams(querySearch(search)));
  const total = query.data?.pages[0]?.total ?? 0;
  if (search === "" && query.data && total === 0) return <FirstRun />;
  return (
    <ListFrame search={search} onNew={onNew}>
      <Found query={query} search={search} total={total} />
    </ListFrame>
  );
}

type ListQuery = ReturnType<typeof useInfiniteQuery<Page<View>, Error, InfiniteData<Page<View>>, string[], string>>;

function Found({ query, search, total }: { query: ListQuery; search: string; total: number }) {
  const { data, isPending, error } = query;
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      {error && items.length === 0 && <Refused error={error} onRetry={() => void query.refetch()} />}
      {isPending && <Bones />}
      {data && items.length === 0 && (
        <div className="body">
          <p className="muted">
            {search === NEEDS_ME ? "Nothing waits for a person." : "No workstream matches. Remove a part of the filter."}
          </p>
        </div>
      )}
      {items.length > 0 && <WorkstreamTable items={items} total={total} />}
      {items.length > 0 && <Foot query={query} shown={items.length} total={total} />}
    </>
  );
}

function Foot({ query, shown, total }: { query: ListQuery; shown: number; total: number }) {
  return (
    <div className="wl-foot faint">
      <span>
        {shown} shown of {total} that match
      </span>
      {query.hasNextPage && (
        <button
          type="button"
          className="btn sm"
          aria-busy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show {Math.min(PAGE_SIZE, total - shown)} more
        </button>
      )}
      <span className="grow" />
      <span className="flex keys wide-only">
        <kbd>j</kbd>
        <kbd>k</kbd> move <kbd>Enter</kbd> open <kbd>/</kbd> filter
      </span>
    </div>
  );
}

interface ListFrameProps {
  search: string;
  onNew: () => void;
  children: ReactNode;
}

function ListFrame({ search, onNew, children }: ListFrameProps) {
  const { data } = useQuery(overview);
  usePage("workstreams", "Workstreams");
  const filter = parseFilter(search);
  return (
    <>
      <header className="top">
        <h1>Workstreams</h1>
        <Views search={search} overview={data} />
        <div className="acts">
          <button type="button" className="btn ink" onClick={onNew}>
            <Icon name="plus" />
            New workstream
          </button>
        </div>
      </header>
      <div className="wl-filter">
        <FilterField filter={filter} onChange={(next) => go(listPath(searchOf(next)))} />
      </div>
      {children}
    </>
  );
}

function Views({ search, overview: known }: { search: string; overview: Overview | undefined }) {
  const views: [string, string, number | undefined][] = [
    ["All", "", known && workstreamCount(known)],
    ["Needs me", NEEDS_ME, known?.needs_you],
    ["Running", "state=running", known?.workstreams.running],
    ["Failed", "state=failed", known?.workstreams.failed],
  ];
  return (
    <nav className="tabs views self-end" aria-label="Views">
      {views.map(([label, value, count]) => (
        <a key={label} href={listPath(value)} aria-current={search === value ? "page" : undefined}>
          {label}
          {count !== undefined && <span className="n">{count}</span>}
        </a>
      ))}
    </nav>
  );
}
