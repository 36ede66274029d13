/** What led to a call that waits, and what became of it, from the newest events of its workstream. */

import type { AnyEvent } from "../api/events";
import type { Call } from "../workstream/conversation";
import { replay } from "../workstream/fold";

export interface Context {
  call: Call | undefined;
  /** What the agent said last before it. */
  words: string;
}

/** The events may begin anywhere in the log. */
export function contextOf(events: readonly AnyEvent[], callId: string): Context {
  const { calls, entries } = replay(events);
  const place = entries.findIndex((entry) => entry.kind === "call" && entry.callId === callId);
  const before = entries.slice(0, place < 0 ? entries.length : place);
  const answer = before.findLast((entry) => entry.kind === "answer");
  return { call: calls.get(callId), words: answer?.kind === "answer" ? answer.text : "" };
}
