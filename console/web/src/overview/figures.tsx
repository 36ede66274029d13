/** The cluster in figures, side by side. */

import { useQuery } from "@tanstack/react-query";
import type { HeardNode } from "../api/heard";
import type { Overview } from "../api/types";
import { counted, plural, secondsBetween, span, spanFine, tokens } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { versionsOf } from "../nodes/versions";
import { approvalsPath, mcpPath, nodesPath } from "../shell/route";
import { useMine } from "../shell/mine";
import { Shares } from "./shares";
import { needing } from "./needs-you";

interface FiguresProps {
  overview: Overview;
  nodes: readonly HeardNode[] | undefined;
}

export function Figures({ overview, nodes }: FiguresProps) {
  const { totals, mcp } = overview;
  return (
    <section className="strip ov-strip" aria-label="Cluster">
      <NeedsYouFigure count={useMine()} />
      <NodesFigure overview={overview} nodes={nodes} />
      <Shares overview={overview} />
      <QueueFigure queues={overview.queues} />
      <div>
        <span className="l">In all</span>
        <span className="f">
          {tokens(totals.input_tokens + totals.output_tokens)} <small>tokens</small>
        </span>
        <span className="d">{counted(totals.calls, "call")}</span>
      </div>
      <a className="c-mcp" href={mcpPath()} title="On all nodes together">
        <span className="l c-mcp">
          <Icon name="mcp" className="i-sm" />
          MCP
        </span>
        <span className="f">
          {mcp.servers} <small className="c-mcp">{plural(mcp.servers, "server")}</small>
        </span>
        <span className="d c-mcp">
          {[counted(mcp.tools, "tool"), counted(mcp.resources, "resource"), counted(mcp.prompts, "prompt")].join(", ")}
        </span>
      </a>
    </section>
  );
}

function NeedsYouFigure({ count }: { count: number }) {
  const now = useNow();
  const { data } = useQuery(needing);
  const since = data?.items.flatMap((view) => view.waiting_for.map((wait) => wait.since)).sort()[0];
  const whole = data !== undefined && data.total <= data.items.length;
  return (
    <a className={count > 0 ? "need" : undefined} href={approvalsPath()}>
      <span className="l">
        {count > 0 && <Glyph name="you" />}
        Needs you
      </span>
      <span className="f">{count}</span>
      <span className="d">
        {count === 0 && "nothing waits"}
        {count > 0 && whole && since && `oldest ${span(secondsBetween(since, now))}`}
      </span>
    </a>
  );
}

function NodesFigure({ overview, nodes }: FiguresProps) {
  const { up, lost, draining } = overview.nodes;
  const versions = versionsOf(nodes ?? []);
  return (
    <a href={nodesPath()}>
      <span className="l">Nodes</span>
      <span className="f">
        {up} <small>up</small>
        {lost > 0 && (
          <span className="c-berry">
            {lost} <small className="c-berry">lost</small>
          </span>
        )}
        {draining > 0 && <small className="c-reed">{draining} draining</small>}
      </span>
      <span className="d">
        {overview.version_drift && versions.length > 1
          ? versions.map((one, index) => (
              <span key={one.version}>
                {index > 0 && ", "}
                <span className="c-reed">{one.version}</span> on {one.nodes.length}
              </span>
            ))
          : drift(overview)}
      </span>
    </a>
  );
}

function drift({ version, versions, version_drift: drifts }: Overview): string {
  return drifts ? `versions ${versions.join(", ")}` : `all run ${version}`;
}

function QueueFigure({ queues: { depth, oldest_seconds: oldest } }: { queues: Overview["queues"] }) {
  if (depth === null) {
    return (
      <div>
        <span className="l">Queue</span>
        <span className="f c-reed">unknown</span>
        <span className="d">Redis does not answer</span>
      </div>
    );
  }
  return (
    <div>
      <span className="l">Queue</span>
      <span className="f">
        {depth} <small>due</small>
      </span>
      <span className="d">{depth > 0 && oldest !== null ? `oldest ${spanFine(oldest)}` : "nothing waits"}</span>
    </div>
  );
}
