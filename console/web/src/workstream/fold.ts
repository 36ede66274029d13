/** The fold: a conversation as what its events say. Pure; the same events give the same picture (F-38). */

import { isDurable, type Answered, type AnyEvent, type KnownEvent, type LiveEvent, type Posted, type TakenUp } from "../api/events";
import { BLANK, pendingAsks, type Call, type Conversation, type Tick } from "./conversation";
import { placeDelta } from "./deltas";
import { enter, readQueued, type CallEvent, type Draft } from "./draft";
import { recordLife } from "./lifecycle";

/** The conversation after one more event; one that is known already changes nothing. */
export function fold(conversation: Conversation, event: AnyEvent): Conversation {
  return foldAll(conversation, [event]);
}

/** The conversation after these further events, in order. Stops at one that does not fit: `torn` says so. */
export function foldAll(conversation: Conversation, events: Iterable<AnyEvent>): Conversation {
  const draft: Draft = {
    ...conversation,
    entries: [...conversation.entries],
    ticks: [...conversation.ticks],
    calls: new Map(conversation.calls),
    schedules: new Map(conversation.schedules),
  };
  let changed = false;
  for (const event of events) {
    if (draft.torn) break;
    changed = apply(draft, event) || changed;
  }
  return changed ? draft : conversation;
}

/** The conversation of a whole log, from its beginning. */
export function replay(events: Iterable<AnyEvent>): Conversation {
  return foldAll(BLANK, events);
}

/** The same conversation when its stream has been opened again. */
export function rejoined(conversation: Conversation): Conversation {
  return { ...conversation, torn: false, joined: true };
}

function apply(draft: Draft, event: AnyEvent): boolean {
  if (!isDurable(event)) return pass(draft, event);
  if (event.seq <= draft.seq) return false;
  if (!draft.joined && event.seq > draft.seq + 1) {
    draft.torn = true;
    return true;
  }
  draft.joined = false;
  draft.seq = event.seq;
  record(draft, event);
  draft.ticks.push(tickOf(draft, event));
  return true;
}

function pass(draft: Draft, event: LiveEvent): boolean {
  if (event.kind === "turn") return takeUp(draft, event);
  return event.kind === "delta" && placeDelta(draft, event);
}

function takeUp(draft: Draft, event: TakenUp): boolean {
  if (event.epoch <= Math.max(draft.epoch, draft.taken?.epoch ?? 0)) return false;
  draft.taken = { node: event.node, epoch: event.epoch };
  return true;
}

function record(draft: Draft, event: KnownEvent): void {
  if (isOfCall(event)) recordCall(draft, event);
  else if (event.kind === "message.user") recordPosted(draft, event);
  else if (event.kind === "message.assistant") recordAnswer(draft, event);
  else recordLife(draft, event);
}

const OF_CALLS: ReadonlySet<KnownEvent["kind"]> = new Set<CallEvent["kind"]>([
  "call.decided",
  "approval.requested",
  "approval.resolved",
  "question.asked",
  "question.answered",
  "call.started",
  "call.finished",
  "call.interrupted",
]);

/** Whether an event is a part of a call's story; other kinds may name a call too. */
function isOfCall(event: KnownEvent): event is CallEvent {
  return OF_CALLS.has(event.kind);
}

function recordPosted(draft: Draft, event: Posted): void {
  const { seq, at, text, source, author } = event;
  const busy = draft.state === "running" || draft.state === "waiting";
  const called = draft.schedules.get(author) ?? author;
  draft.entries.push({ kind: "user", seq, at, text, source, author: called, queued: event.queued && busy });
  if (!busy) enter(draft, "running", at);
}

function recordAnswer(draft: Draft, event: Answered): void {
  const { seq, at, text, reasoning, model } = event;
  draft.live = null;
  draft.floor = seq;
  if (model) draft.model = model;
  if (text || reasoning) draft.entries.push({ kind: "answer", seq, at, text, reasoning, model });
  for (const asked of event.calls) {
    const { call_id: id, tool } = asked;
    draft.calls.set(id, { id, tool, arguments: asked.arguments, output: "" });
    draft.entries.push({ kind: "call", seq, at, callId: id });
  }
  if (event.calls.length === 0) readQueued(draft);
}

/** A call stands in the log where it was last decided or asked about. */
const RENUMBERED: ReadonlySet<string> = new Set(["call.decided", "approval.requested", "question.asked"]);
const ANSWERS: ReadonlySet<string> = new Set(["approval.resolved", "question.answered"]);

function recordCall(draft: Draft, event: CallEvent): void {
  let call = draft.calls.get(event.call_id);
  if (!call) {
    const tool = "tool" in event ? event.tool : "";
    call = { id: event.call_id, tool, arguments: "{}", output: "" };
    draft.entries.push({ kind: "call", seq: event.seq, at: event.at, callId: call.id });
  }
  draft.calls.set(call.id, advanced(call, event));
  if (RENUMBERED.has(event.kind)) renumber(draft, event);
  const answered = ANSWERS.has(event.kind) && draft.state === "waiting";
  if (answered && pendingAsks(draft).length === 0) enter(draft, "running", event.at);
}

function advanced(call: Call, event: CallEvent): Call {
  switch (event.kind) {
    case "call.decided":
      return { ...call, decided: event };
    case "approval.requested":
      return { ...call, requested: event };
    case "approval.resolved":
      return { ...call, resolved: event, arguments: event.updated_arguments || call.arguments };
    case "question.asked":
      return { ...call, asked: event };
    case "question.answered":
      return { ...call, answered: event };
    case "call.started":
      return { ...call, started: event };
    case "call.finished":
      return { ...call, finished: event, output: "" };
    case "call.interrupted":
      return { ...call, interrupted: event, output: "" };
  }
}

/** A call hangs on the number under which it was decided, or asked about. */
function renumber(draft: Draft, event: CallEvent): void {
  const index = draft.entries.findLastIndex((entry) => entry.kind === "call" && entry.callId === event.call_id);
  const entry = draft.entries[index];
  if (entry) draft.entries[index] = { ...entry, seq: event.seq, at: event.at };
}

function tickOf(draft: Draft, event: KnownEvent): Tick {
  const { seq, at } = event;
  const tick = (weight: Tick["weight"]): Tick => ({ seq, at, weight, node: draft.node });
  if (event.kind === "message.user" || ANSWERS.has(event.kind)) return tick("person");
  if (event.kind === "message.assistant" || event.kind === "turn.started") return tick("turn");
  const isMcp = "tool" in event && event.tool.startsWith("mcp__");
  return tick(isMcp ? "mcp" : "minor");
}
