/** How the cluster does, what needs a person first. */

import { useQuery } from "@tanstack/react-query";
import { overview } from "../api/queries";
import type { HeardNode } from "../api/heard";
import { useCluster } from "../cluster/use-cluster";
import { Bones } from "../design/bones";
import { clock, day } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { Refused } from "../design/refused";
import { workstreamCount } from "../shell/counts";
import { listPath, nodesPath, usePage } from "../shell/route";
import { listed } from "../nodes/versions";
import { Figures } from "./figures";
import { NeedsYou } from "./needs-you";
import { WhyWaiting } from "./why-waiting";

export function OverviewPage({ onNew }: { onNew: () => void }) {
  const { data, error } = useQuery(overview);
  const { nodes } = useCluster();
  const now = useNow();
  usePage("overview", "Overview");
  return (
    <>
      <header className="top">
        <h1>Overview</h1>
        <span className="sub">{day(now)}</span>
        <div className="acts">
          <button type="button" className="btn ink" onClick={onNew}>
            <Icon name="plus" />
            New workstream
          </button>
        </div>
      </header>
      {error && !data && <Refused error={error} />}
      {!error && !data && <Bones />}
      {data && (
        <div className="body">
          <Lost nodes={nodes?.filter((node) => node.state === "lost") ?? []} />
          <Figures overview={data} nodes={nodes} />
          {workstreamCount(data) === 0 && (
            <div className="notice info">
              <Glyph name="idle" />
              <p>No workstream yet.</p>
              <a className="btn sm" href={listPath()}>
                Begin
              </a>
            </div>
          )}
          <div className="ov-grid">
            <NeedsYou />
            <WhyWaiting />
          </div>
        </div>
      )}
    </>
  );
}

/** Said aloud by the frame around the page, so it is no alert of its own. */
function Lost({ nodes }: { nodes: readonly HeardNode[] }) {
  const first = nodes[0];
  if (!first) return null;
  return (
    <div className="notice bad">
      <Glyph name="lost" />
      <p>
        <b>
          {listed(nodes.map((node) => node.name))} {nodes.length === 1 ? "is" : "are"} lost
        </b>
        {nodes.length === 1 && ` since ${clock(new Date(first.heardAt).toISOString())}`}. Other nodes take up the work.
      </p>
      <a className="btn sm" href={nodesPath(first.name)}>
        See the node
      </a>
    </div>
  );
}
