/** The machines that do the work: how each of them does. */

import { useState } from "react";
import type { HeardNode } from "../api/heard";
import { useCluster } from "../cluster/use-cluster";
import { Bones } from "../design/bones";
import { NotHere } from "../design/not-here";
import { usePhoneScroll } from "../design/phone-scroll";
import { Refused } from "../design/refused";
import { Glyph } from "../design/glyph";
import { usePage } from "../shell/route";
import { LostPanel } from "./lost-panel";
import { NodeDetail } from "./node-detail";
import { NodeTable } from "./node-table";
import { listed, versionsOf } from "./versions";

const MOST_LOST = 5;

export function NodesPage({ name }: { name: string }) {
  const { nodes, error } = useCluster();
  const [cards, setCards] = useState(false);
  usePage("nodes", "Nodes");
  return (
    <>
      <header className="top">
        <h1>Nodes</h1>
        {nodes && nodes.length > 0 && <span className="sub">{summary(nodes)}</span>}
        <div className="acts">
          <div className="seg" role="group" aria-label="View">
            <button type="button" aria-pressed={!cards} onClick={() => setCards(false)}>
              Table
            </button>
            <button type="button" aria-pressed={cards} onClick={() => setCards(true)}>
              Cards
            </button>
          </div>
        </div>
      </header>
      {error && !nodes && <Refused error={error} />}
      {!error && !nodes && <Bones />}
      {nodes && nodes.length === 0 && <NoNode />}
      {nodes && nodes.length > 0 && <Found nodes={nodes} name={name} cards={cards} />}
    </>
  );
}

function Found({ nodes, name, cards }: { nodes: readonly HeardNode[]; name: string; cards: boolean }) {
  const versions = versionsOf(nodes);
  const usual = [...versions].sort((a, b) => b.nodes.length - a.nodes.length)[0]?.version ?? "";
  const selected = nodes.find((node) => node.name === name) ?? nodes[0];
  const lost = nodes.filter((node) => node.state === "lost");
  const unknown = name !== "" && selected?.name !== name;
  usePhoneScroll(unknown ? "" : name, "h-node");
  return (
    <div className="body">
      {unknown && <NotHere what="node" name={name} />}
      {versions.length > 1 && <SideBySide versions={versions} />}
      <section className={cards ? "panel as-cards" : "panel"} aria-label="Nodes">
        <NodeTable nodes={nodes} selected={selected?.name ?? ""} usualVersion={usual} />
      </section>
      <div className={lost.length > 0 ? "nd-grid" : "nd-grid alone"}>
        {selected && <NodeDetail node={selected} />}
        {lost.length > 0 && <Lost nodes={lost} />}
      </div>
    </div>
  );
}

function Lost({ nodes }: { nodes: readonly HeardNode[] }) {
  return (
    <div className="nd-lost">
      {nodes.slice(0, MOST_LOST).map((node) => (
        <LostPanel key={node.name} node={node} />
      ))}
      {nodes.length > MOST_LOST && <p className="faint">and {nodes.length - MOST_LOST} more</p>}
    </div>
  );
}

function SideBySide({ versions }: { versions: ReturnType<typeof versionsOf> }) {
  return (
    <div className="notice warn">
      <Glyph name="warn" />
      <p>
        <b>{versions.length === 2 ? "Two" : versions.length} versions run side by side:</b>{" "}
        {versions.map((one) => `${one.version} on ${listed(one.nodes)}`).join(", ")}.
      </p>
    </div>
  );
}

function NoNode() {
  return (
    <div className="body">
      <div className="empty">
        <h2>No node was heard of within the hour</h2>
        <p className="muted">
          Work waits in the log until one comes. Start one: <code>redshank node</code>
        </p>
      </div>
    </div>
  );
}

function summary(nodes: readonly HeardNode[]): string {
  const count = (state: HeardNode["state"]) => nodes.filter((node) => node.state === state).length;
  const leader = nodes.find((node) => node.state !== "lost" && node.report.leads_clock);
  const parts = [`${count("up")} up`];
  if (count("lost") > 0) parts.push(`${count("lost")} lost`);
  if (count("draining") > 0) parts.push(`${count("draining")} draining`);
  if (leader) parts.push(`clock on ${leader.name}`);
  return parts.join(", ");
}
