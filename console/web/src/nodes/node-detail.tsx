/** One node in full: what it can do, what it says of itself. */

import type { HeardNode } from "../api/heard";
import type { McpCounts, McpServerReport } from "../api/types";
import { counted, fullTime, megabytes, secondsBetween, spanExact } from "../design/format";
import { useNow } from "../design/now";
import { Glyph } from "../design/glyph";
import { standingIn } from "../mcp/standing";
import { listPath, mcpPath } from "../shell/route";
import { NodeStateLabel } from "./node-state";
import { placeOf } from "./node-table";

const MOST_TOOLS = 60;

export function NodeDetail({ node }: { node: HeardNode }) {
  const now = useNow();
  const { mcp, tools, workstreams, mcp_servers: servers = [] } = node.report;
  const more = node.state === "up" ? spanExact(secondsBetween(node.started_at, now)) : "";
  return (
    <section className="panel nd-detail" aria-labelledby="h-node">
      <header>
        <h2 id="h-node" className="mono">
          {node.name}
        </h2>
        <NodeStateLabel state={node.state} boxed more={more} />
        <span className="end">
          <a className="btn sm" href={listPath(`node=${encodeURIComponent(node.name)}`)}>
            {node.state !== "lost" && workstreams.length > 0 ? `Its ${counted(workstreams.length, "workstream")}` : "Its workstreams"}
          </a>
        </span>
      </header>
      <div className="nd-cols">
        <div>
          <h3>MCP on this node</h3>
          <Mcp counts={mcp} servers={servers} />
          {tools.length > 0 && <Tools names={tools} />}
        </div>
        <div>
          <h3>Facts</h3>
          <Facts node={node} />
        </div>
      </div>
    </section>
  );
}

function Mcp({ counts, servers }: { counts: McpCounts; servers: readonly McpServerReport[] }) {
  if (counts.servers + servers.length === 0) return <p className="muted">It reaches no MCP server.</p>;
  const figures: [string, number][] = [
    ["Servers", counts.servers],
    ["Tools", counts.tools],
    ["Resources", counts.resources],
    ["Prompts", counts.prompts],
  ];
  return (
    <>
      <dl className="facts mcp-facts">
        {figures.map(([name, count]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd>{count}</dd>
          </div>
        ))}
      </dl>
      <ul className="mcp-here" aria-label="MCP servers of this node">
        {servers.map((server) => (
          <Server key={server.name} server={server} />
        ))}
      </ul>
    </>
  );
}

function Server({ server }: { server: McpServerReport }) {
  const { glyph, words, beside } = standingIn(server.state, server);
  return (
    <li>
      <a className="mono c-mcp clip" href={mcpPath(server.name)}>
        {server.name}
      </a>
      <span className={`st st-${glyph}`}>
        <Glyph name={glyph} />
        {words}
      </span>
      <small className="clip" title={beside}>
        {beside}
      </small>
    </li>
  );
}

function Tools({ names }: { names: readonly string[] }) {
  return (
    <>
      <h3 className="nd-tools-head">
        Tools <span className="faint">{names.length}</span>
      </h3>
      <ul className="nd-tools" aria-label="Tools of this node">
        {names.slice(0, MOST_TOOLS).map((name) => (
          <li key={name} className={name.startsWith("mcp__") ? "tag mcp" : "tag"}>
            {name}
          </li>
        ))}
        {names.length > MOST_TOOLS && <li className="faint">and {names.length - MOST_TOOLS} more</li>}
      </ul>
    </>
  );
}

function Facts({ node }: { node: HeardNode }) {
  const { slots, busy, load, loop_lag_ms: lag, memory_bytes: memory, leads_clock: leads } = node.report;
  const facts: [string, string, boolean][] = [
    ["Address", placeOf(node.address), true],
    ["Node id", node.id, true],
    ["Version", node.version, true],
    ["Started", fullTime(node.started_at), false],
    ["Slots", `${busy} of ${slots} in use`, false],
    ["Load, 1 min", `${Math.round(load * 100)} %`, false],
    ["Loop lag", `${lag} ms`, false],
    ["Memory", memory > 0 ? megabytes(memory) : "", false],
    ["Due clock", leads ? "leads it" : "stands by", false],
  ];
  return (
    <dl className="facts">
      {facts.map(
        ([name, value, machine]) =>
          value !== "" && (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd className={machine ? "mono" : undefined} title={value}>
                {value}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
