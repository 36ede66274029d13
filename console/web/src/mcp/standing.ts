/** How servers stand: on a node, on all of them, in one sentence. */

import type { HeardNode } from "../api/heard";
import type { McpNodeAnswer, McpOnNode, McpOrder, McpServer } from "../api/mcp-types";
import type { McpServerReport, McpState } from "../api/types";
import { clock, counted, took } from "../design/format";
import type { GlyphName } from "../design/glyph";
import { listed } from "../nodes/versions";

/** A median above this is worth a colour. */
const SLOW_MS = 1000;

export interface Standing {
  glyph: GlyphName;
  words: string;
  /** Said beneath, small. */
  beside: string;
}

/** A server on a node. What a lost node last said of it is no longer known to be so. */
export function standingOn(node: HeardNode, status: McpOnNode | undefined): Standing {
  if (node.state === "lost") {
    return { glyph: "lost", words: "unknown", beside: `since ${clock(new Date(node.heardAt).toISOString())}` };
  }
  if (!status?.state) return { glyph: "off", words: "not here", beside: "" };
  return standingIn(status.state, status);
}

/** How a server does that is in this state. */
export function standingIn(state: McpState, { detail = "", latency_ms: latency = null }: Pick<McpServerReport, "detail" | "latency_ms">): Standing {
  switch (state) {
    case "connected":
      return connected(latency);
    case "connecting":
      return { glyph: "run", words: "connecting", beside: detail };
    case "failed":
      return { glyph: "lost", words: "down", beside: detail };
    case "needs_login":
      return { glyph: "idle", words: "waits", beside: "needs a login" };
    case "left_out":
      return { glyph: "off", words: "left out", beside: detail };
    case "disabled":
      return { glyph: "paused", words: "disabled", beside: "" };
  }
}

function connected(latency: number | null): Standing {
  if (latency === null) return { glyph: "up", words: "connected", beside: "" };
  const words = inTime(latency);
  if (latency >= SLOW_MS) return { glyph: "late", words, beside: "median of its last calls" };
  return { glyph: "up", words, beside: "" };
}

/** Milliseconds as a time: 0.4 ms, 11 ms, 1.9 s. */
export function inTime(milliseconds: number): string {
  return milliseconds < 10 ? `${Math.round(milliseconds * 10) / 10} ms` : took(Math.round(milliseconds));
}

/** What nodes that are heard of say of the server. */
export function heardFrom(server: McpServer): McpOnNode[] {
  return server.nodes.filter((status) => status.node_state !== "lost" && status.state !== null);
}

export function needsLogin(server: McpServer): boolean {
  return heardFrom(server).some((status) => status.state === "needs_login");
}

type Fares = "well" | "down" | "login" | "begins" | "off";

/** How a server does on the whole: the worst of what nodes say of it. */
function faring(server: McpServer): Fares {
  const states = new Set(heardFrom(server).map((status) => status.state));
  if (states.has("failed")) return "down";
  if (states.has("needs_login")) return "login";
  if (states.has("connecting")) return "begins";
  return states.has("connected") ? "well" : "off";
}

/** Such as: 4 well, 1 down on a node, 1 needs a login. */
export function inOneSentence(servers: readonly McpServer[]): string {
  const fares = servers.map(faring);
  const count = (one: Fares) => fares.filter((each) => each === one).length;
  const login = count("login");
  const parts: [number, string][] = [
    [count("well"), `${count("well")} well`],
    [count("down"), `${count("down")} down on a node`],
    [login, login === 1 ? "1 needs a login" : `${login} need a login`],
    [count("begins"), `${count("begins")} connecting`],
    [count("off"), `${count("off")} on no node`],
  ];
  return parts.flatMap(([some, words]) => (some > 0 ? [words] : [])).join(", ");
}

export interface Failure {
  on: string[];
  since: string;
  detail: string;
}

/** Nodes where it does not work, together where the reason is the same; since when the first of them. */
export function failures(server: McpServer): Failure[] {
  const found = new Map<string, Failure>();
  for (const { state, node, since, detail } of heardFrom(server)) {
    if (state !== "failed") continue;
    const same = found.get(detail);
    const first = same && Date.parse(same.since) < Date.parse(since) ? same.since : since;
    found.set(detail, { on: [...(same?.on ?? []), node], since: first, detail });
  }
  return [...found.values()];
}

/** What an order came to on all nodes: what is new, what is gone, who has not answered. */
export function outcomeOf({ server, order, nodes }: McpOrder): string {
  if (nodes.length === 0) return `${server}: no node is up to be asked`;
  const done = order === "refresh" ? "refreshed" : "reconnected";
  const told = tellings(nodes);
  const nowhere = nodes.every((node) => node.error !== "");
  return `${server} ${nowhere ? "not " : ""}${done}: ${told.length > 0 ? told.join("; ") : "nothing changed"}`;
}

/** The same of several orders: only what there is to tell. */
export function outcomesOf(orders: readonly McpOrder[]): string {
  const told = orders.filter(({ nodes }) => tellings(nodes).length > 0).map(outcomeOf);
  if (told.length > 2) return `${counted(orders.length, "server")} refreshed, there is news of ${told.length}`;
  return told.length > 0 ? told.join(". ") : `${counted(orders.length, "server")} refreshed: nothing changed`;
}

function tellings(nodes: readonly McpNodeAnswer[]): string[] {
  const added = new Set(nodes.flatMap((node) => node.added));
  const removed = new Set(nodes.flatMap((node) => node.removed));
  const silent = nodes.filter((node) => !node.answered).map((node) => node.node);
  return [
    added.size > 0 ? `${named(added)} added` : "",
    removed.size > 0 ? `${named(removed)} removed` : "",
    ...[...new Set(nodes.map((node) => node.error).filter(Boolean))].map((error) => failing(nodes, error)),
    silent.length > 0 ? `${listed(silent)} not answered yet` : "",
  ].filter(Boolean);
}

/** Where it failed for this reason. */
function failing(nodes: readonly McpNodeAnswer[], error: string): string {
  const on = nodes.filter((node) => node.error === error).map((node) => node.node);
  return on.length === nodes.length && on.length > 1 ? error : `${listed(on)}: ${error}`;
}

function named(names: ReadonlySet<string>): string {
  return names.size <= 2 ? [...names].join(", ") : counted(names.size, "name");
}

/** How it is reached, how it is told who we are. */
export function kindOf({ transport, auth, origin, required }: McpServer): string {
  const proof = auth === "none" || auth === "environment" ? "" : auth;
  return [transport, proof, required ? "required" : "", origin === "settings" ? "from settings" : ""].filter(Boolean).join(", ");
}

/** Whether the record lets agents use a tool of this name. */
export function isEnabled(record: Record<string, unknown>, tool: string): boolean {
  const only = record["enabled_tools"];
  const without = record["disabled_tools"];
  if (Array.isArray(without) && without.includes(tool)) return false;
  return !Array.isArray(only) || only.includes(tool);
}
