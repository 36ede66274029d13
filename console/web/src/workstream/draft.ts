/** A conversation while a fold changes it, with the two changes that several events share. */

import type { Answered, KnownEvent, Posted } from "../api/events";
import type { State } from "../api/types";
import type { Call, Conversation } from "./conversation";

/** A conversation that may be changed in place, because nobody else holds it yet. */
export type Draft = Omit<Conversation, "calls" | "schedules"> & { calls: Map<string, Call>; schedules: Map<string, string> };

/** These tell of the call that they come from, but stand by themselves. */
type FromCall = "plan.accepted" | "preview.opened" | "assets.stored" | "output.emitted" | "tools.found";
export type CallEvent = Exclude<Extract<KnownEvent, { call_id: string }>, { kind: FromCall }>;
export type LifeEvent = Exclude<KnownEvent, CallEvent | Posted | Answered>;

/** A new state begins. */
export function enter(draft: Draft, state: State, at: string): void {
  draft.state = state;
  draft.since = at;
  draft.detail = "";
  draft.waitingFor = [];
}

/** The turn in hand has ended: what was to be read then is read now. */
export function readQueued(draft: Draft): void {
  draft.entries = draft.entries.map((entry) =>
    entry.kind === "user" && entry.queued ? { ...entry, queued: false } : entry,
  );
}
