/** What is known of a node that fell silent. */

import { useQuery } from "@tanstack/react-query";
import type { HeardNode } from "../api/heard";
import { namings } from "../api/queries";
import { clock, spanExact } from "../design/format";
import { Glyph } from "../design/glyph";
import { useNow } from "../design/now";
import { workstreamPath } from "../shell/route";

const MOST_NAMED = 6;

export function LostPanel({ node }: { node: HeardNode }) {
  const now = useNow();
  const heard = new Date(node.heardAt).toISOString();
  const { busy, slots, workstreams } = node.report;
  return (
    <section className="panel" aria-label={`${node.name} is lost`}>
      <header>
        <Glyph name="lost" className="c-berry" />
        <h2>
          <span className="mono">{node.name}</span>, lost for {spanExact((now - node.heardAt) / 1000)}
        </h2>
      </header>
      <ol className="story">
        <li>
          <time dateTime={heard}>{clock(heard)}</time>
          <span>
            Last heartbeat. {busy} of {slots} slots were in use.
          </span>
        </li>
        {workstreams.length > 0 && (
          <li>
            <time dateTime={heard}>{clock(heard)}</time>
            <Held ids={workstreams} />
          </li>
        )}
        <li>
          <time dateTime={new Date(now).toISOString()}>now</time>
          <span>Other nodes take up its workstreams when its leases end.</span>
        </li>
      </ol>
      <footer>If it comes back, its writes are refused: epochs have moved on.</footer>
    </section>
  );
}

function Held({ ids }: { ids: readonly string[] }) {
  const names = useQuery(namings).data;
  return (
    <span>
      It worked on
      {ids.slice(0, MOST_NAMED).map((id) => (
        <a key={id} className="link" href={workstreamPath(id)}>
          {names?.get(id)?.called ?? id}
        </a>
      ))}
      {ids.length > MOST_NAMED && <span className="faint">and {ids.length - MOST_NAMED} more</span>}
    </span>
  );
}
