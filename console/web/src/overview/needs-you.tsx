/** What stands still until a person acts: approvals, questions, spent budgets, failures. */

import { useQuery } from "@tanstack/react-query";
import { glimpse } from "../api/queries";
import type { View, WaitKind } from "../api/types";
import { titleOf } from "../approvals/covers";
import { fullTime, secondsBetween, span } from "../design/format";
import { Glyph } from "../design/glyph";
import { namingOf } from "../design/naming";
import { useNow } from "../design/now";
import { approvalsPath, go, workstreamPath } from "../shell/route";
import { useWalk } from "../shell/walk";

const MOST_WAITING = 9;
const MOST_FAILED = 5;
const WORDS: Partial<Record<WaitKind, string>> = { question: "Question", budget: "Budget" };

export const needing = glimpse("waiting_for=approval", MOST_WAITING);
const asking = glimpse("waiting_for=question", MOST_WAITING);
const failed = glimpse("state=failed", MOST_FAILED);

export function NeedsYou() {
  const known = useStanding();
  const items = known?.items ?? [];
  const at = useWalk(
    items.map((view) => view.id),
    (id) => go(workstreamPath(id)),
  );
  return (
    <section className="panel" aria-labelledby="h-need">
      <header>
        <h2 id="h-need">Needs you</h2>
        <span className="n">{known && `${known.waiting} wait${known.waiting === 1 ? "s" : ""}, ${known.failed} failed`}</span>
        <span className="end">
          {items.length > 0 && (
            <span className="flex keys wide-only">
              <kbd>j</kbd>
              <kbd>k</kbd> move <kbd>Enter</kbd> review
            </span>
          )}
          <a className="link" href={approvalsPath()}>
            Open inbox
          </a>
        </span>
      </header>
      {known && items.length === 0 && <p className="none">Nothing waits for a person.</p>}
      <ul className="rows need-rows">
        {items.map((view) => (
          <Row key={view.id} view={view} at={view.id === at} />
        ))}
      </ul>
    </section>
  );
}

/** What stands still, how many wait and failed; undefined until all of it is known. */
function useStanding() {
  const waits = useQuery(needing).data;
  const questions = useQuery(asking).data;
  const failures = useQuery(failed).data;
  if (!waits || !questions || !failures) return undefined;
  const items = [...waits.items, ...questions.items, ...failures.items];
  return { items, waiting: waits.total + questions.total, failed: failures.total };
}

function Row({ view, at }: { view: View; at: boolean }) {
  const now = useNow();
  const broken = view.state === "failed";
  const wait = view.waiting_for[0];
  const since = wait?.since ?? view.updated_at;
  const { called, words } = namingOf(view);
  return (
    <li id={`row-${view.id}`} className={at ? "at" : undefined}>
      <span className={broken ? "st st-fail" : "st st-you"}>
        <Glyph name={broken ? "fail" : "you"} />
        <span className="kind">{broken ? "Failed" : ((wait && WORDS[wait.kind]) ?? "Approval")}</span>
      </span>
      <a className="what" href={workstreamPath(view.id)}>
        <span className={words ? "name" : "name mono"}>{called}</span>
        <Asked view={view} />
      </a>
      <span className="age faint" title={fullTime(since)}>
        {span(secondsBetween(since, now))}
      </span>
      <span className="go">
        <a className={at && !broken ? "btn sm leg" : "btn sm"} href={workstreamPath(view.id)} tabIndex={-1} aria-hidden="true">
          {broken ? "Open" : "Review"}
        </a>
      </span>
    </li>
  );
}

function Asked({ view }: { view: View }) {
  const approval = view.pending_approvals[0];
  if (view.state === "failed") return <span className="ask clip">{view.detail}</span>;
  const [question] = view.pending_questions;
  if (question) return <span className="ask clip">{question.text}</span>;
  if (!approval) return <span className="ask clip">{view.waiting_for[0]?.detail}</span>;
  return (
    <span className="ask clip">
      <code>{approval.tool}</code> {titleOf(approval.tool, approval.preview.title)}
    </span>
  );
}
