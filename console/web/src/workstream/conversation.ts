/** What the page knows of a conversation: its entries in order, its calls, what is in progress. */

import type {
  Decided,
  Finished,
  Interrupted,
  OutputPart,
  QuestionAnswered,
  QuestionAsked,
  Requested,
  Resolved,
  Started,
} from "../api/events";
import type { Mode, State, WaitFor } from "../api/types";

/** One tool call, as far as it came. `output` is what it wrote until now. */
export interface Call {
  id: string;
  tool: string;
  arguments: string;
  decided?: Decided;
  requested?: Requested;
  resolved?: Resolved;
  asked?: QuestionAsked;
  answered?: QuestionAnswered;
  started?: Started;
  finished?: Finished;
  interrupted?: Interrupted;
  output: string;
}

interface Placed {
  seq: number;
  at: string;
}

export type Entry =
  | (Placed & { kind: "user"; text: string; source: string; author: string; queued: boolean })
  | (Placed & { kind: "turn"; node: string; epoch: number; number: number; waitedSince: string; resumed: boolean })
  | (Placed & { kind: "answer"; text: string; reasoning: string; model: string })
  | (Placed & { kind: "call"; callId: string })
  | (Placed & { kind: "note"; text: string })
  | (Placed & { kind: "summary"; through: number; summary: string })
  | (Placed & { kind: "output"; parts: OutputPart[]; inline: boolean })
  | (Placed & { kind: "failure"; code: string; detail: string });

/** How an event stands on the timeline. */
export type Tick = Placed & { weight: "person" | "turn" | "minor" | "mcp"; node: string };

/** The answer that a model is giving now; `step` is the last sequence number when it began. */
export interface Live {
  step: number;
  text: string;
  reasoning: string;
}

export interface Conversation {
  seq: number;
  name: string;
  owner: string;
  persona: string;
  profile: string;
  model: string;
  mode: Mode;
  forkedFrom: string;
  forkedAt: number;
  state: State;
  detail: string;
  waitingFor: WaitFor[];
  /** When the state began. */
  since: string;
  node: string;
  epoch: number;
  turns: number;
  inputTokens: number;
  outputTokens: number;
  entries: Entry[];
  ticks: Tick[];
  calls: ReadonlyMap<string, Call>;
  /** What schedules and watches are called, by their ids. */
  schedules: ReadonlyMap<string, string>;
  live: Live | null;
  /** Pieces of a step that began before this sequence number come too late. */
  floor: number;
  /** Who holds the lease as of just now, where the log does not say it yet. */
  taken: { node: string; epoch: number } | null;
  /** A turn has begun and has not come to rest. */
  inTurn: boolean;
  /** When the last wait began, until a turn ends it. */
  waitedSince: string;
  /** The stream was just opened: whatever number it begins with is right. */
  joined: boolean;
  /** A piece is missing: the stream must be opened again. */
  torn: boolean;
}

export const BLANK: Conversation = {
  seq: 0,
  name: "",
  owner: "",
  persona: "",
  profile: "",
  model: "",
  mode: "default",
  forkedFrom: "",
  forkedAt: 0,
  state: "idle",
  detail: "",
  waitingFor: [],
  since: "",
  node: "",
  epoch: 0,
  turns: 0,
  inputTokens: 0,
  outputTokens: 0,
  entries: [],
  ticks: [],
  calls: new Map(),
  schedules: new Map(),
  live: null,
  floor: 0,
  taken: null,
  inTurn: false,
  waitedSince: "",
  joined: true,
  torn: false,
};

/** The call's approval where nobody has answered it yet. */
export function pendingApproval(call: Call): Requested | undefined {
  return call.requested && !call.resolved && !call.finished ? call.requested : undefined;
}

/** All approvals that wait, oldest first. */
export function pendingApprovals(conversation: Conversation): Requested[] {
  return pendingAsks(conversation).filter((ask) => ask.kind === "approval.requested");
}

/** The call's questions where nobody has answered them yet. */
export function pendingQuestion(call: Call): QuestionAsked | undefined {
  return call.asked && !call.answered && !call.finished ? call.asked : undefined;
}

/** What waits for a person, oldest first: approvals, questions. */
export function pendingAsks(conversation: Conversation): (Requested | QuestionAsked)[] {
  const waiting = [...conversation.calls.values()].flatMap((call) => pendingApproval(call) ?? pendingQuestion(call) ?? []);
  return waiting.sort((one, other) => one.seq - other.seq);
}

/** Whether the call's effect is under way. */
export function isRunning(call: Call): boolean {
  if (call.finished || call.interrupted || pendingQuestion(call)) return false;
  return call.started !== undefined || call.output !== "";
}
