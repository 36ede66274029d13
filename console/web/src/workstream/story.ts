/** A conversation to fold in tests: a turn that streams, asks, runs, and one whose node stopped. */

import type { AnyEvent, Delta, KnownEvent } from "../api/events";

type Fields = Record<string, unknown>;

/** An event as the console sends it. */
export function event(seq: number, kind: KnownEvent["kind"], fields: Fields = {}): AnyEvent {
  const at = `2026-11-14T12:00:${String(seq % 60).padStart(2, "0")}.000Z`;
  return { seq, at, kind, ...fields } as AnyEvent;
}

export function delta(channel: Delta["channel"], step: number, offset: number, text: string, callId?: string): Delta {
  return { kind: "delta", channel, step, offset, text, ...(callId ? { call_id: callId } : {}) };
}

const asked = (id: string, tool: string, input: Fields) => ({ call_id: id, tool, arguments: JSON.stringify(input), provider_id: "" });

/** The whole log, in order. */
export const STORY: AnyEvent[] = [
  event(1, "workstream.created", { name: "backfill", owner: "ines", profile: "default", persona: "", mode: "default", model: "main", forked_from: "", forked_at: 0 }),
  event(2, "message.user", { text: "run: ls -la", source: "user", author: "ines", queued: false }),
  event(3, "turn.started", { node: "node-1", epoch: 1 }),
  event(4, "message.assistant", { text: "I list it.", reasoning: "", model: "demo", calls: [asked("c1", "bash", { command: "ls -la" }), asked("c2", "read_file", { path: "a.txt" })] }),
  event(5, "call.decided", { call_id: "c1", tool: "bash", effect: "process", decision: "ask", base_decision: "ask", effective_mode: "default", pattern: "bash", scope: "built-in", origin: "", why: "Processes ask.", input_digest: "ab", mode_effect: "" }),
  event(6, "call.decided", { call_id: "c2", tool: "read_file", effect: "read", decision: "allow", base_decision: "allow", effective_mode: "default", pattern: "*", scope: "built-in", origin: "", why: "Reading is allowed.", input_digest: "cd", mode_effect: "" }),
  event(7, "approval.requested", { request_id: "r1", call_id: "c1", tool: "bash", arguments: "{}", input_digest: "ab", preview: { title: "ls -la", kind: "command", body: "ls -la", added: 0, removed: 0 } }),
  event(8, "call.finished", { call_id: "c2", tool: "read_file", is_error: false, output: "hello", outcome: "ok", duration_ms: 3, truncated: false }),
  event(9, "state", { state: "waiting", waiting_for: [{ kind: "approval", since: "2026-11-14T12:00:07.000Z", detail: "bash" }], detail: "" }),
  event(10, "approval.resolved", { request_id: "r1", call_id: "c1", behavior: "allow", by: "tomasz", scope: "once", reason: "", updated_arguments: "" }),
  event(11, "turn.started", { node: "node-2", epoch: 2 }),
  event(12, "call.started", { call_id: "c1", tool: "bash", effect: "process", node: "node-2", epoch: 2 }),
  event(13, "call.interrupted", { call_id: "c1", tool: "bash", node: "node-2", output: "Outcome unknown." }),
  event(14, "turn.started", { node: "node-1", epoch: 3 }),
  event(15, "usage", { model: "demo", input_tokens: 100, output_tokens: 20 }),
  event(16, "message.user", { text: "and then?", source: "user", author: "ines", queued: true }),
  event(17, "message.assistant", { text: "It was cut off.", reasoning: "", model: "demo", calls: [] }),
  event(18, "state", { state: "idle", waiting_for: [], detail: "" }),
];

/** The story as a watcher sees it live: pieces in progress between the facts. */
export const WATCHED: AnyEvent[] = STORY.flatMap((fact): AnyEvent[] => {
  if (!("seq" in fact)) return [fact];
  if (fact.seq === 4) return [{ kind: "turn", node: "node-1", epoch: 1 }, delta("text", 3, 0, "I li"), delta("text", 3, 4, "st it."), fact];
  if (fact.seq === 13) return [delta("output", 12, 0, "total 0\n", "c1"), fact];
  if (fact.seq === 17) return [delta("reasoning", 15, 0, "hm"), delta("text", 15, 0, "It was "), fact];
  return [fact];
});
