/** The nodes, one row each; cards where there is little room. */

import { memo } from "react";
import type { HeardNode } from "../api/heard";
import { fullTime, megabytes, spanExact, spanFine } from "../design/format";
import { useNow } from "../design/now";
import { go, nodesPath } from "../shell/route";
import { useWalk } from "../shell/walk";
import { NodeStateLabel } from "./node-state";
import { Load, Slots } from "./slots";

const SLOW_LOOP_MS = 40;

interface NodeTableProps {
  nodes: readonly HeardNode[];
  selected: string;
  /** The version that most run is not worth a colour, the others are. */
  usualVersion: string;
}

export function NodeTable({ nodes, selected, usualVersion }: NodeTableProps) {
  const at = useWalk(
    nodes.map((node) => node.name),
    (name) => go(nodesPath(name)),
    selected,
  );
  const now = useNow();
  return (
    <table className="tbl inpanel nd">
      <caption className="vh">Nodes by name</caption>
      <thead>
        <tr>
          <th scope="col">node</th>
          <th scope="col">state</th>
          <th scope="col">slots</th>
          <th scope="col">load, 1 min</th>
          <th scope="col" className="num">
            loop lag
          </th>
          <th scope="col" className="num">
            memory
          </th>
          <th scope="col">version</th>
          <th scope="col">MCP</th>
          <th scope="col" className="num">
            heartbeat
          </th>
        </tr>
      </thead>
      <tbody>
        {nodes.map((node) => (
          <Row
            key={node.name}
            node={node}
            at={node.name === at}
            selected={node.name === selected}
            drifts={node.version !== usualVersion}
            now={node.state === "lost" ? now : 0}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  node: HeardNode;
  at: boolean;
  selected: boolean;
  drifts: boolean;
  /** Now, for a node whose silence goes on; 0 for one that says itself how it does. */
  now: number;
}

const Row = memo(function Row({ node, at, selected, drifts, now }: RowProps) {
  const lost = node.state === "lost";
  const { load, loop_lag_ms: lag, memory_bytes: memory } = node.report;
  return (
    <tr id={`row-${node.name}`} className={at ? "at" : undefined}>
      <td className="two">
        <a className="name" href={nodesPath(node.name)} aria-current={selected || undefined}>
          {node.name}
        </a>
        <small>{placeOf(node.address)}</small>
      </td>
      <td className="c-st">
        <NodeStateLabel state={node.state} />
      </td>
      <td className="c-slots">
        <SlotsInUse node={node} />
      </td>
      <td className="c-load" data-l="load">
        {!lost && <Load load={load} />}
      </td>
      <td className={`num ${lag >= SLOW_LOOP_MS ? "c-reed" : ""}`} data-l="lag">
        {!lost && `${lag} ms`}
      </td>
      <td className="num muted" data-l="memory">
        {!lost && memory > 0 && megabytes(memory)}
      </td>
      <td className={`id ${drifts ? "c-reed" : ""}`} data-l="version">
        {node.version}
      </td>
      <td className="c-mcp" data-l="MCP">
        {!lost && <Reached node={node} />}
      </td>
      <td
        className={`num ${lost ? "c-berry" : "muted"}`}
        data-l="heartbeat"
        title={fullTime(new Date(node.heardAt).toISOString())}
      >
        {lost ? spanExact((now - node.heardAt) / 1000) : spanFine(node.age_seconds)}
      </td>
    </tr>
  );
});

function SlotsInUse({ node: { state, report } }: { node: HeardNode }) {
  const { slots, busy } = report;
  const used = state === "lost" ? 0 : busy;
  if (slots === 0) return null;
  return (
    <>
      <Slots busy={used} slots={slots} />
      <span className="muted">
        {used}/{slots}
      </span>
    </>
  );
}

function Reached({ node }: { node: HeardNode }) {
  const { mcp } = node.report;
  if (mcp.servers === 0) return <span className="faint">none</span>;
  return (
    <>
      {mcp.servers} <small>with {mcp.tools} tools</small>
    </>
  );
}

/** Host and port of an address such as `http://10.4.0.13:8081`. */
export function placeOf(address: string): string {
  return address.replace(/^https?:\/\//, "");
}
