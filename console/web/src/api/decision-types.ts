/** What the console's API says of decisions: inboxes, audits, rules, dry runs. */

import type { Decision, Effect, Mode, PendingApproval, PendingQuestion, Reach } from "./types";

/** An approval with the workstream that it belongs to. `may_answer` is empty where I may not. */
export interface InboxItem extends PendingApproval {
  workstream_id: string;
  workstream_name: string;
  owner: string;
  may_answer: Reach[];
}

/** A call that waits no more. `scope`: how far the word reached, where it allowed. */
export interface DecidedItem {
  request_id: string;
  call_id: string;
  tool: string;
  title: string;
  workstream_id: string;
  workstream_name: string;
  owner: string;
  requested_at: string;
  state: "allowed" | "denied" | "cancelled";
  resolved_at: string;
  resolved_by: string;
  scope: Reach | null;
  reason: string | null;
}

export interface QuestionItem extends PendingQuestion {
  workstream_id: string;
  workstream_name: string;
  owner: string;
  may_answer: boolean;
}

export interface Answer {
  question_id: string;
  option_ids: string[];
  text: string;
}

/** A decision with all that led to it. `mode_effect` only where the mode changed it. */
export interface DecisionView {
  decision: Decision;
  base_decision: Decision;
  effective_mode: Mode;
  mode_effect: string | null;
  pattern: string;
  scope: string;
  origin: string;
  why: string;
}

export interface Audit extends DecisionView {
  seq: number;
  at: string;
  call_id: string;
  tool: string;
  canonical: string;
  effect: Effect;
  input_digest: string;
  hook: string;
  hook_reason: string;
  approval_request_id: string | null;
  resolution: "allow" | "deny" | "cancelled" | null;
  resolved_by: string | null;
  resolved_at: string | null;
  resolution_scope: Reach | null;
  reason: string | null;
}

/** A decision on a call, with the workstream that made it. */
export type CallDecision = Audit & { workstream: string };

export type RuleScope = "project" | "user";

export interface Rule {
  id: string;
  scope: RuleScope;
  subject: string;
  pattern: string;
  decision: Decision;
  locked: boolean;
  /** `approval` where a person's "always" made it. */
  origin: "static" | "approval";
  note: string;
  created_by: string;
  created_at: string;
}

export interface NewRule {
  scope: RuleScope;
  subject?: string;
  pattern: string;
  decision: Decision;
  locked?: boolean;
  note?: string;
  /** Said by who has seen how far an allow of `*` reaches. */
  confirm?: boolean;
}

/** What would be decided on a call now. `registered`: a live node has this tool. */
export interface Check extends DecisionView {
  tool: string;
  registered: boolean;
}

/** A tool, or with a `label` those of its calls that carry it. */
export interface MatrixRow {
  tool: string;
  label: string;
  canonical: string;
  effect: Effect;
  server: string;
  registered: boolean;
  cells: DecisionView[];
}

export interface Matrix {
  profile: string;
  modes: Mode[];
  rows: MatrixRow[];
}

/** Whose matrix, or whose call: a profile's, or a workstream's with its own rules. */
export interface Standpoint {
  profile?: string;
  workstream?: string;
}

export interface CellChange {
  tool: string;
  mode: Mode;
  wider: boolean;
  before: DecisionView;
  after: DecisionView;
}

export interface Difference {
  cells: number;
  wider: number;
  narrower: number;
  changes: CellChange[];
}

export interface Expected {
  tool: string;
  mode: Mode;
  profile: string;
  passed: boolean;
  wrong: string;
}

export interface Trial {
  passed: number;
  failed: number;
  results: Expected[];
  warnings: string[];
}

export interface Profile {
  name: string;
  title: string;
  tools: { name: string }[];
  rules: { pattern: string; decision: Decision }[];
}
