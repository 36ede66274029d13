/** What the console's API says of MCP servers. What a server says of itself is untrusted: text, never markup. */

import type { Decision, McpState, NodeState } from "./types";

export type McpAuth = "none" | "environment" | "headers" | "bearer" | "oauth";

interface McpCounted {
  /** Those that are enabled. */
  tools: number;
  /** With those that are not. */
  offered: number;
  resources: number;
  templates: number;
  prompts: number;
  /** Since the nodes began that are up. */
  calls: number;
  errors: number;
  /** In their last hour; not told by an older console. */
  hour_calls?: number;
  hour_errors?: number;
  /** Median of the last calls; the worst node's where it stands for several. */
  latency_ms: number | null;
}

/** A server on one node. `state` null: that node is lost, or has not picked the server up yet. */
export interface McpOnNode extends McpCounted {
  node: string;
  node_id: string;
  node_state: NodeState;
  state: McpState | null;
  since: string;
  detail: string;
}

/** `changed`: tools that changed since they were accepted. */
export interface McpServer extends McpCounted {
  name: string;
  /** Those of the settings are read-only. */
  origin: "settings" | "added";
  transport: "stdio" | "http";
  /** Its URL or its command line, masked. */
  address: string;
  auth: McpAuth;
  enabled: boolean;
  required: boolean;
  added_by: string;
  added_at: string;
  state: McpState | null;
  changed: number;
  nodes: McpOnNode[];
}

/** All servers together. `needs_login`: of those that are down, the ones that only wait for a login. */
export interface McpTotals extends McpCounted {
  servers: number;
  well: number;
  down: number;
  needs_login: number;
  changed: number;
}

export interface McpServers {
  items: McpServer[];
  next_cursor: string | null;
  total: number;
  totals: McpTotals;
}

/** How a tool differs from what was accepted; `digest` is what accepting it names. */
export interface McpChange {
  at: string;
  accepted_by: string;
  accepted_at: string;
  digest: string;
  description_before: string;
  description_after: string;
  schema_before: Record<string, unknown>;
  schema_after: Record<string, unknown>;
}

/** `exposed`: what models call it; `decision`: what the rules decide on it in default mode. */
export interface McpTool {
  name: string;
  exposed: string;
  title: string;
  description: string;
  input_schema: Record<string, unknown>;
  decision: Decision;
  changed: McpChange | null;
  nodes: string[];
}

export interface McpResource {
  uri: string;
  name: string;
  description: string;
  media_type: string;
  is_template: boolean;
}

export interface McpPrompt {
  name: string;
  exposed: string;
  description: string;
  arguments: { name: string; description: string; required: boolean }[];
}

export interface McpDropped {
  name: string;
  why: string;
}

/** A server with all that it offers; `warnings`: what it wrote that was no message, by node. */
export interface McpDetail extends McpServer {
  record: Record<string, unknown>;
  protocol: string;
  title: string;
  instructions: string;
  tools_list: McpTool[];
  resources_list: McpResource[];
  prompts_list: McpPrompt[];
  dropped: McpDropped[];
  warnings: Record<string, string[]>;
}

/** What one node did. Not answered: it will when it can. `error`: why nothing could be fetched. */
export interface McpNodeAnswer {
  node: string;
  answered: boolean;
  added: string[];
  removed: string[];
  error: string;
}

export interface McpOrder {
  server: string;
  order: "refresh" | "reconnect";
  nodes: McpNodeAnswer[];
}

/** A server that Redshank knows how to start; `slots`: the secrets that it needs. */
export interface McpCatalogEntry {
  name: string;
  title: string;
  description: string;
  made_by: string;
  transport: "stdio" | "http";
  slots: string[];
  record: Record<string, unknown>;
}

export interface McpSlot {
  server: string;
  slot: string;
  field: string;
  state: "set" | "missing" | "revoked";
}

export interface McpLogin {
  authorization_url: string;
  expires_at: string;
}

/** A server's account, as much of it as may be read; `needs_login` says why somebody must log in again. */
export interface McpAccount {
  slot: string;
  state: "none" | "live" | "needs_login" | "revoked";
  issuer: string;
  scopes: string[];
  expires_at: string | null;
  renews: boolean;
  logged_in_at: string;
  logged_in_by: string;
  needs_login: string;
}

/** A server as it is asked for: secrets by the names of their slots. */
export interface NewMcpServer {
  name: string;
  url?: string;
  bearer_token_secret_ref?: string;
  http_header_secret_refs?: Record<string, string>;
  oauth_slot_ref?: string;
  oauth_scopes?: string[];
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  env_secret_refs?: Record<string, string>;
  sandbox?: string;
  enabled_tools?: string[];
  disabled_tools?: string[];
  startup_timeout_sec: number;
  tool_timeout_sec: number;
  required: boolean;
}
