/** The events of a workstream's stream, as the console sends them. */

import type { Answer } from "./decision-types";
import type { Audience, Decision, Effect, Mode, Outcome, Preview, QuestionPart, Schedule, State, WaitFor } from "./types";

interface Durable<Kind extends string> {
  kind: Kind;
  seq: number;
  at: string;
}

export interface AskedCall {
  call_id: string;
  tool: string;
  arguments: string;
  provider_id: string;
}

export type Created = Durable<"workstream.created"> & {
  name: string;
  owner: string;
  profile: string;
  persona: string;
  mode: Mode;
  model: string;
  node: string;
  parent: string;
  forked_from: string;
  forked_at: number;
};
export type Posted = Durable<"message.user"> & {
  text: string;
  source: "user" | "watch" | "wake" | "agent" | "channel" | "engine";
  author: string;
  queued: boolean;
};
export type TurnStarted = Durable<"turn.started"> & { node: string; epoch: number };
export type Answered = Durable<"message.assistant"> & {
  text: string;
  calls: AskedCall[];
  reasoning: string;
  model: string;
};
export type Used = Durable<"usage"> & { model: string; input_tokens: number; output_tokens: number };
export type Decided = Durable<"call.decided"> & {
  call_id: string;
  tool: string;
  canonical: string;
  effect: Effect;
  decision: Decision;
  base_decision: Decision;
  effective_mode: Mode;
  pattern: string;
  scope: string;
  origin: string;
  why: string;
  input_digest: string;
  mode_effect: string;
  hook?: string;
  hook_reason?: string;
};
export type Requested = Durable<"approval.requested"> & {
  request_id: string;
  call_id: string;
  tool: string;
  arguments: string;
  input_digest: string;
  preview: Preview;
  /** The rule that a word for the workstream, or for always, makes. */
  pattern?: string;
  /** Seconds since 1970. */
  expires_at?: number | null;
};
export type Resolved = Durable<"approval.resolved"> & {
  request_id: string;
  call_id: string;
  behavior: "allow" | "deny" | "cancelled";
  by: string;
  scope: "once" | "workstream" | "always";
  reason: string;
  updated_arguments: string;
  input_digest?: string;
  /** Of the input as it was asked for, where a person edited it. */
  original_digest?: string;
};
export type QuestionAsked = Durable<"question.asked"> & {
  request_id: string;
  call_id: string;
  audience: Audience;
  questions: QuestionPart[];
  /** Seconds since 1970. */
  expires_at?: number | null;
};
export type QuestionAnswered = Durable<"question.answered"> & {
  request_id: string;
  call_id: string;
  outcome: "answered" | "cancelled" | "expired";
  by: string;
  answers: Answer[];
  detail: string;
};
export type PlanAccepted = Durable<"plan.accepted"> & { call_id: string; plan: string };
export type RulesUpdated = Durable<"rules.updated"> & {
  hook: string;
  rules: { pattern: string; decision: Decision }[];
};
export type GrantRevoked = Durable<"grant.revoked"> & { pattern: string; by: string };
export type FilePinned = Durable<"file.pinned"> & { path: string; sections: string[]; whole: boolean };
export type FileUnpinned = Durable<"file.unpinned"> & { path: string; gone: boolean };
export type PreviewOpened = Durable<"preview.opened"> & {
  call_id: string;
  /** What the bytes are shown as. */
  shows: string;
  title: string;
  digest: string;
  source: string;
  media_type: string;
  size: number;
};
export type AssetsStored = Durable<"assets.stored"> & {
  call_id: string;
  tool: string;
  assets: { digest: string; media_type: string; size: number; name?: string }[];
};
export type OutputPart =
  | { type: "text"; text: string }
  | { type: "asset"; asset_id: string; media_type?: string; size?: number };
export type OutputEmitted = Durable<"output.emitted"> & { call_id: string; parts: OutputPart[]; inline?: boolean; final?: boolean };
export type ScheduleCreated = Durable<"schedule.created"> & {
  schedule_id: string;
  name: string;
  by: string;
  watch?: { command: string } | null;
  target?: string;
};
export type ScheduleChanged = Durable<"schedule.changed"> & {
  schedule_id: string;
  state: Schedule["state"];
  by: string;
  detail?: string;
};
export type ScheduleTriggered = Durable<"schedule.triggered"> & { schedule_id: string; run_id: string; by: string };
export type ScheduleFired = Durable<"schedule.fired"> & { schedule_id: string; run_id: string };
export type NotificationRequested = Durable<"notification.requested"> & {
  delivery_id: string;
  message: string;
  title?: string;
  username?: string;
  channel_type?: string;
  channel_id?: string;
};
export type NotificationSettled = Durable<"notification.settled"> & {
  delivery_id: string;
  sent: boolean;
  results?: string[];
  detail?: string;
};
export type ToolsFound = Durable<"tools.found"> & { names: string[]; call_id?: string; by_provider?: boolean };
export type Started = Durable<"call.started"> & {
  call_id: string;
  tool: string;
  effect: Effect;
  node: string;
  epoch: number;
};
export type Finished = Durable<"call.finished"> & {
  call_id: string;
  tool: string;
  is_error: boolean;
  output: string;
  outcome: Outcome;
  duration_ms: number;
  truncated: boolean;
};
export type Interrupted = Durable<"call.interrupted"> & {
  call_id: string;
  tool: string;
  node: string;
  output: string;
};
export type StateChanged = Durable<"state"> & { state: State; waiting_for: WaitFor[]; detail: string };
export type Cancelled = Durable<"turn.cancelled"> & { by: string };
export type Failed = Durable<"turn.failed"> & { code: string; detail: string };
export type Retried = Durable<"turn.retried"> & { by: string };
export type ModeChanged = Durable<"mode.changed"> & { mode: Mode; by: string };
export type CompactionRequested = Durable<"compaction.requested"> & { by: string };
export type Compacted = Durable<"context.compacted"> & { through: number; summary: string };
export type Closed = Durable<"workstream.closed"> & { by: string };

export type KnownEvent =
  | Created
  | Posted
  | TurnStarted
  | Answered
  | Used
  | Decided
  | Requested
  | Resolved
  | QuestionAsked
  | QuestionAnswered
  | PlanAccepted
  | RulesUpdated
  | GrantRevoked
  | FilePinned
  | FileUnpinned
  | PreviewOpened
  | AssetsStored
  | OutputEmitted
  | ToolsFound
  | ScheduleCreated
  | ScheduleChanged
  | ScheduleTriggered
  | ScheduleFired
  | NotificationRequested
  | NotificationSettled
  | Started
  | Finished
  | Interrupted
  | StateChanged
  | Cancelled
  | Failed
  | Retried
  | ModeChanged
  | CompactionRequested
  | Compacted
  | Closed;

/** A piece of an answer or an output in progress: `offset` counts the characters before it. */
export interface Delta {
  kind: "delta";
  channel: "text" | "reasoning" | "output";
  call_id?: string;
  step: number;
  offset: number;
  text: string;
}

/** A node took the workstream up just now. */
export interface TakenUp {
  kind: "turn";
  node: string;
  epoch: number;
}

/** What a background command writes while it runs; `offset` counts the characters shown before it. */
export interface TaskOutput {
  kind: "task.output";
  task_id: string;
  state: string;
  offset: number;
  text: string;
}

export type LiveEvent = Delta | TakenUp | TaskOutput;
export type AnyEvent = KnownEvent | LiveEvent;

/** Whether an event stands in the log (it has a sequence number) rather than passing by. */
export function isDurable(event: AnyEvent): event is KnownEvent {
  return "seq" in event;
}
