/** What the console's API says, in types. */

export type Mode = "default" | "acceptEdits" | "bypassPermissions" | "plan" | "dontAsk";
export type State = "idle" | "running" | "waiting" | "failed" | "closed";
export type WaitKind = "approval" | "question" | "child" | "wake" | "budget" | "queue" | "model" | "mcp";
export type Effect = "read" | "write" | "process" | "network" | "mcp" | "human" | "deliver" | "state";
export type Decision = "allow" | "ask" | "deny";
export type Outcome = "ok" | "error" | "denied" | "refused" | "timeout" | "cancelled";
export type When = "next" | "steer";
export type Scope = "once" | "workstream";

export interface WaitFor {
  kind: WaitKind;
  since: string;
  detail: string;
}

export interface Preview {
  title: string;
  kind: "command" | "diff" | "text" | "json";
  body: string;
  added: number;
  removed: number;
}

export interface PendingApproval {
  request_id: string;
  call_id: string;
  tool: string;
  input: unknown;
  preview: Preview;
  input_digest: string;
  requested_at: string;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  calls: number;
}

export interface View {
  id: string;
  name: string;
  title: string;
  state: State;
  waiting_for: WaitFor[];
  node: string;
  profile: string;
  persona: string;
  mode: Mode;
  model: string;
  owner: string;
  labels: string[];
  parent: string;
  usage: Usage;
  pending_approvals: PendingApproval[];
  pending_questions: unknown[];
  last_seq: number;
  detail: string;
  created_at: string;
  updated_at: string;
}

export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
  total: number;
}

export interface Me {
  name: string;
  role: string;
}

export interface Overview {
  nodes: { up: number; lost: number; draining: number; total: number };
  workstreams: Record<State, number>;
  needs_you: number;
  /** Null while Redis does not answer. */
  queues: { depth: number | null; oldest_seconds: number | null };
  totals: Usage;
  mcp: { servers: number; resources: number; prompts: number; tools: number };
  version: string;
  versions: string[];
  version_drift: boolean;
}

export interface Resolution {
  request_id: string;
  behavior: "allow" | "deny";
  scope: Scope;
  reason?: string;
}

export interface NewWorkstream {
  name?: string;
  mode?: Mode;
  message?: string;
}

export interface Problem {
  status: number;
  code: string;
  detail: string;
  field?: string;
}
