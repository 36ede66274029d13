/** Why what does not move stands still. */

import { useQuery } from "@tanstack/react-query";
import { glimpse } from "../api/queries";
import type { WaitKind } from "../api/types";
import { fullTime, secondsBetween, span } from "../design/format";
import { useNow } from "../design/now";
import { listPath } from "../shell/route";
import { groupWaits, type WaitGroup } from "./waits";

const LOOKED_AT = 200;

const WORDS: Record<WaitKind, string> = {
  approval: "approval",
  question: "question",
  budget: "budget",
  child: "a child",
  wake: "a wake",
  queue: "the queue",
  model: "model",
  mcp: "MCP server",
};

export function WhyWaiting() {
  const { data } = useQuery(glimpse("state=waiting", LOOKED_AT));
  const groups = groupWaits(data?.items ?? []);
  const most = groups[0]?.count ?? 1;
  return (
    <section className="panel" aria-labelledby="h-why">
      <header>
        <h2 id="h-why">Why is it waiting</h2>
        {data && data.total > 0 && <span className="n">{data.total === 1 ? "1 does not move" : `${data.total} do not move`}</span>}
        {data && data.total > LOOKED_AT && <span className="end">the last {LOOKED_AT} by cause</span>}
      </header>
      {data && groups.length === 0 && <p className="none">Nothing waits.</p>}
      <ul className="why-rows">
        {groups.map((group) => (
          <Row key={group.kind} group={group} share={group.count / most} />
        ))}
      </ul>
    </section>
  );
}

function Row({ group, share }: { group: WaitGroup; share: number }) {
  const now = useNow();
  return (
    <li>
      <a href={listPath(`waiting_for=${group.kind}`)}>
        <span>{WORDS[group.kind]}</span>
        <span className="n">{group.count}</span>
        <span className="track">
          <i className={group.look} style={{ width: `${share * 100}%` }} />
        </span>
        <span className="age" title={fullTime(group.since)}>
          {span(secondsBetween(group.since, now))}
        </span>
        <span className="cause">{group.cause}</span>
      </a>
    </li>
  );
}
