/** The workstreams that match, one row each; on the phone two lines. */

import type { View } from "../api/types";
import { fullTime, secondsBetween, span, tokens } from "../design/format";
import { namingOf } from "../design/naming";
import { useNow } from "../design/now";
import { lookOf, StateLabel, toneOf } from "../design/state-label";
import { go, workstreamPath } from "../shell/route";
import { useWalk } from "../shell/walk";

interface WorkstreamTableProps {
  items: View[];
  total: number;
}

export function WorkstreamTable({ items, total }: WorkstreamTableProps) {
  const now = useNow();
  const at = useWalk(
    items.map((view) => view.id),
    (id) => go(workstreamPath(id)),
  );
  return (
    <table className="tbl wl">
      <caption className="vh">
        Workstreams that match the filter, {items.length} of {total}
      </caption>
      <thead>
        <tr>
          <th scope="col">state</th>
          <th scope="col">name</th>
          <th scope="col">waits for</th>
          <th scope="col" className="c-node">
            node
          </th>
          <th scope="col">owner</th>
          <th scope="col" className="num">
            for
          </th>
          <th scope="col" className="num c-tok">
            tokens
          </th>
          <th scope="col" className="c-mode">
            mode
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((view) => (
          <Row key={view.id} view={view} now={now} at={view.id === at} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ view, now, at }: { view: View; now: number; at: boolean }) {
  const since = view.state === "waiting" ? (view.waiting_for[0]?.since ?? view.updated_at) : view.updated_at;
  const { called, beside, words } = namingOf(view);
  const used = view.usage.input_tokens + view.usage.output_tokens;
  return (
    <tr id={`row-${view.id}`} className={at ? "at" : undefined} aria-current={at || undefined}>
      <td className="c-st">
        <StateLabel look={lookOf(view.state, view.waiting_for)} />
      </td>
      <td className="c-name">
        <a className={words ? "name words" : "name"} href={workstreamPath(view.id)} title={beside}>
          {called}
        </a>
      </td>
      <td className="c-why">
        <span className={`clip ${toneOf(view.state, view.waiting_for)}`}>{reasonOf(view)}</span>
      </td>
      <td className="id c-node">{view.state === "running" && view.node ? view.node : <Parked view={view} />}</td>
      <td className="c-own">{view.owner}</td>
      <td className="num c-age" title={fullTime(since)}>
        {span(secondsBetween(since, now))}
      </td>
      <td className="num c-tok muted">{tokens(used)}</td>
      <td className="id c-mode">{view.mode}</td>
    </tr>
  );
}

function Parked({ view }: { view: View }) {
  return <span className="faint">{view.state === "running" ? "handed out" : "parked"}</span>;
}

/** Why a workstream stands still, in a few words. */
export function reasonOf(view: View): string {
  if (view.state === "failed") return view.detail;
  const wait = view.waiting_for[0];
  if (view.state !== "waiting" || !wait) return "";
  const approval = view.pending_approvals[0];
  const detail = wait.detail || (approval ? `${approval.tool} ${approval.preview.title}`.trim() : "");
  const kind = wait.kind === "mcp" ? "MCP server" : wait.kind;
  return detail ? `${kind}: ${detail}` : kind;
}
