/** What the console's API says, in types. */

export type Mode = "default" | "acceptEdits" | "bypassPermissions" | "plan" | "dontAsk";
export type State = "idle" | "running" | "waiting" | "failed" | "closed";
export type WaitKind = "approval" | "question" | "child" | "wake" | "budget" | "queue" | "model" | "mcp";
export type Effect = "read" | "write" | "process" | "network" | "mcp" | "human" | "deliver" | "state";
export type Decision = "allow" | "ask" | "deny";
export type Outcome = "ok" | "error" | "denied" | "refused" | "timeout" | "cancelled";
export type When = "next" | "steer";
/** How far a person's word on an approval reaches. */
export type Reach = "once" | "workstream" | "always";
export type TokenScope = "read" | "operate" | "approve" | "admin";

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
  /** The rule that a word for the workstream, or for always, makes. */
  pattern: string;
  requested_at: string;
  expires_at: string | null;
}

/** One answer that a question offers. */
export interface QuestionOption {
  option_id: string;
  label: string;
  description: string;
}

export interface QuestionPart {
  question_id: string;
  text: string;
  options: QuestionOption[];
  multi_select: boolean;
}

export type Audience = "user" | "operator";

/** One to four questions, answered together. */
export interface PendingQuestion {
  request_id: string;
  call_id: string;
  audience: Audience;
  text: string;
  questions: QuestionPart[];
  asked_at: string;
  expires_at: string | null;
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
  pending_questions: PendingQuestion[];
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
  scopes: TokenScope[];
}

export interface Overview {
  nodes: { up: number; lost: number; draining: number; total: number };
  workstreams: Record<State, number>;
  needs_you: number;
  /** Null while Redis does not answer. */
  queues: { depth: number | null; oldest_seconds: number | null };
  totals: Usage;
  mcp: McpCounts;
  version: string;
  versions: string[];
  version_drift: boolean;
}

export type NodeState = "up" | "lost" | "draining";

export interface McpCounts {
  servers: number;
  resources: number;
  prompts: number;
  tools: number;
}

/** What a node says of itself. `load`: 1 is a machine in full use. `tools`: what models are offered. */
export interface NodeReport {
  slots: number;
  busy: number;
  load: number;
  loop_lag_ms: number;
  /** 0 where the node did not tell. */
  memory_bytes: number;
  leads_clock: boolean;
  mcp: McpCounts;
  tools: string[];
  /** The ids of those in hand. */
  workstreams: string[];
  /** Not told by an older node. */
  mcp_servers?: McpServerReport[];
}

export type McpState = "connecting" | "connected" | "failed" | "needs_login" | "left_out" | "disabled";

/** An MCP server as it is on a node; what is left out is nothing. */
export interface McpServerReport {
  name: string;
  state: McpState;
  since?: string;
  detail?: string;
  latency_ms?: number | null;
  tools?: number;
  resources?: number;
  prompts?: number;
}

/** `age_seconds`: how long ago it was last heard of. */
export interface ClusterNode {
  id: string;
  name: string;
  state: NodeState;
  address: string;
  version: string;
  started_at: string;
  age_seconds: number;
  report: NodeReport;
}

export interface Snapshot {
  overview: Overview;
  nodes: ClusterNode[];
}

export type ScheduleKind = "once" | "interval" | "cron" | "watch";

/** As it is asked for: what stands under its kind. A watch without `stop_on` fires when the output changes. */
export type Cadence =
  | { once: { at: string } }
  | { interval: { every_seconds: number } }
  | { cron: { expression: string; timezone: string } }
  | { watch: { command: string; poll_every: number; stop_on: string; max_polls: number } };

export type RunState = "handed" | "started" | "done" | "skipped" | "lost";

export interface LastRun {
  due_at: string;
  state: RunState;
  detail: string;
}

export interface Schedule {
  id: string;
  name: string;
  workstream: string;
  kind: ScheduleKind;
  cadence: Cadence;
  state: "active" | "paused" | "completed" | "canceled";
  next_due: string | null;
  last_run: LastRun | null;
  runs: number;
  message: string;
  created_at: string;
  /** Why it is as it is, such as what ended it. */
  detail: string;
}

export type NewSchedule = Cadence & { workstream: string; name: string; message?: string };

export interface Resolution {
  request_id: string;
  behavior: "allow" | "deny";
  scope: Reach;
  reason?: string;
  /** The call's input as the person edited it: it is checked and decided anew. */
  updated_input?: Record<string, unknown>;
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
