/** A server that a person is describing, before the cluster knows it. */

import type { McpCatalogEntry, NewMcpServer } from "../api/mcp-types";

export type Way = "http" | "stdio";
export type Proof = "none" | "bearer" | "header" | "oauth";
export type Sandbox = "" | "read_only" | "workspace_write" | "network_enabled";
export type Choice = "all" | "only" | "without";

export interface Draft {
  name: string;
  way: Way;
  url: string;
  proof: Proof;
  bearerSlot: string;
  header: string;
  headerSlot: string;
  scopes: string;
  command: string;
  /** One argument a line, as it is passed: no shell reads it. */
  args: string;
  /** NAME=value a line. */
  env: string;
  /** NAME=slot a line. */
  envSlots: string;
  /** What confines the command; empty is nothing. */
  sandbox: Sandbox;
  tools: Choice;
  /** Names between spaces, commas or lines. */
  named: string;
  startSeconds: string;
  callSeconds: string;
  required: boolean;
}

export const SANDBOXES: readonly Sandbox[] = ["", "read_only", "workspace_write", "network_enabled"];

export const BLANK: Draft = {
  name: "",
  way: "http",
  url: "",
  proof: "none",
  bearerSlot: "",
  header: "",
  headerSlot: "",
  scopes: "",
  command: "",
  args: "",
  env: "",
  envSlots: "",
  sandbox: "",
  tools: "all",
  named: "",
  startSeconds: "10",
  callSeconds: "120",
  required: false,
};

/** Where a new server's secret lies unless it is said otherwise. */
export const oauthSlot = (name: string) => `mcp.oauth.${name}`;

/** What the console is asked for: only what was filled in. It judges every value itself. */
export function requestOf(draft: Draft): NewMcpServer {
  return {
    name: draft.name.trim(),
    ...(draft.way === "http" ? reachedByAddress(draft) : startedHere(draft)),
    ...toolsOf(draft),
    startup_timeout_sec: Number(draft.startSeconds),
    tool_timeout_sec: Number(draft.callSeconds),
    required: draft.required,
  };
}

function reachedByAddress(draft: Draft): Partial<NewMcpServer> {
  const url = draft.url.trim();
  switch (draft.proof) {
    case "none":
      return { url };
    case "bearer":
      return { url, bearer_token_secret_ref: draft.bearerSlot.trim() };
    case "header":
      return { url, http_header_secret_refs: { [draft.header.trim()]: draft.headerSlot.trim() } };
    case "oauth": {
      const scopes = words(draft.scopes);
      return { url, oauth_slot_ref: oauthSlot(draft.name.trim()), ...(scopes.length > 0 ? { oauth_scopes: scopes } : {}) };
    }
  }
}

function startedHere(draft: Draft): Partial<NewMcpServer> {
  const env = pairs(draft.env);
  const slots = pairs(draft.envSlots);
  return {
    command: draft.command.trim(),
    args: lines(draft.args),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(Object.keys(slots).length > 0 ? { env_secret_refs: slots } : {}),
    ...(draft.sandbox ? { sandbox: draft.sandbox } : {}),
  };
}

function toolsOf({ tools, named }: Draft): Partial<NewMcpServer> {
  if (tools === "only") return { enabled_tools: words(named) };
  return tools === "without" ? { disabled_tools: words(named) } : {};
}

const lines = (text: string) => text.split("\n").filter((line) => line.trim() !== "");
const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** A line without = names a variable that is empty. */
function pairs(text: string): Record<string, string> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/**
 * The field of the form that a refusal blames, as the record calls it: `mcp.servers.NAME.env.KEY` blames `env`,
 * the record itself its name.
 */
export function blamedField(field: string | undefined, name: string): string {
  if (!field) return "";
  const own = field.replace(/^mcp\.servers\./, "");
  if (own === name) return "name";
  const inside = own.startsWith(`${name}.`) ? own.slice(name.length + 1) : own;
  return inside.replace(/^(body|server|record)\./, "").split(/[.[]/)[0] ?? "";
}

/** The fields of the form that stand there for what was chosen, as the record calls them. */
export function fieldsShown({ way, proof, tools }: Draft): readonly string[] {
  const proofs: Record<Proof, string[]> = {
    none: [],
    bearer: ["bearer_token_secret_ref"],
    header: ["http_header_secret_refs"],
    oauth: ["oauth_slot_ref", "oauth_scopes"],
  };
  const reached = way === "http" ? ["url", ...proofs[proof]] : ["command", "sandbox", "args", "env", "env_secret_refs"];
  const limited = { all: [], only: ["enabled_tools"], without: ["disabled_tools"] }[tools];
  return ["name", ...reached, ...limited, "startup_timeout_sec", "tool_timeout_sec"];
}

/** A draft of a server that the catalog knows; its secrets are still to be named where the record leaves them open. */
export function draftOf({ name, record }: Pick<McpCatalogEntry, "name" | "record">): Draft {
  const text = (field: string) => (typeof record[field] === "string" ? record[field] : "");
  const list = (field: string) => (Array.isArray(record[field]) ? record[field].map(String) : []);
  const header = Object.entries(object(record["http_header_secret_refs"]))[0];
  const proof = text("oauth_slot_ref") ? "oauth" : text("bearer_token_secret_ref") ? "bearer" : header ? "header" : "none";
  const seconds = (field: string, usual: string) => (typeof record[field] === "number" ? String(record[field]) : usual);
  return {
    ...BLANK,
    name,
    way: text("url") ? "http" : "stdio",
    url: text("url"),
    proof,
    bearerSlot: text("bearer_token_secret_ref"),
    header: header?.[0] ?? "",
    headerSlot: header?.[1] ?? "",
    scopes: list("oauth_scopes").join(" "),
    command: text("command"),
    sandbox: SANDBOXES.find((one) => one === text("sandbox")) ?? "",
    args: list("args").join("\n"),
    env: written(object(record["env"])),
    envSlots: written(object(record["env_secret_refs"])),
    startSeconds: seconds("startup_timeout_sec", BLANK.startSeconds),
    callSeconds: seconds("tool_timeout_sec", BLANK.callSeconds),
  };
}

function object(value: unknown): Record<string, string> {
  if (value === null || typeof value !== "object") return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, String(inner)]));
}

const written = (found: Record<string, string>) =>
  Object.entries(found)
    .map(([key, value]) => `${key}=${value}`)
    .join("\n");
