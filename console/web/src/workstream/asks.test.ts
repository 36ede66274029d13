import { expect, test } from "vitest";
import { pendingAsks, type Conversation } from "./conversation";
import { scopeWords } from "./decision";
import { replay } from "./fold";
import { event } from "./story";

const asked = (id: string, tool: string) => ({ call_id: id, tool, arguments: "{}", provider_id: "" });
const QUESTIONS = [{ question_id: "q.1", text: "Which?", multi_select: false, options: [] }];
const ASKS = [
  event(1, "workstream.created", { name: "w", owner: "ines", mode: "plan" }),
  event(2, "message.assistant", { text: "", calls: [asked("c1", "ask_user_question"), asked("c2", "bash")] }),
  event(3, "question.asked", { request_id: "r1", call_id: "c1", audience: "user", questions: QUESTIONS }),
  event(4, "approval.requested", { request_id: "r2", call_id: "c2", tool: "bash", preview: { title: "ls" } }),
  event(5, "state", { state: "waiting", waiting_for: [{ kind: "question", since: "", detail: "" }], detail: "" }),
];
const ANSWERED = event(6, "question.answered", { request_id: "r1", call_id: "c1", outcome: "answered", by: "ines", answers: [] });
const DENIED = event(7, "approval.resolved", { request_id: "r2", call_id: "c2", behavior: "deny", by: "ines", scope: "once" });
const kinds = (conversation: Conversation) => pendingAsks(conversation).map((ask) => ask.kind);

test("questions and approvals wait together, oldest first", () => {
  expect(kinds(replay(ASKS))).toEqual(["question.asked", "approval.requested"]);
});

test("it goes on when the last of them is answered", () => {
  const halfway = replay([...ASKS, ANSWERED]);
  expect(kinds(halfway)).toEqual(["approval.requested"]);
  expect(halfway.state).toBe("waiting");
  expect(replay([...ASKS, ANSWERED, DENIED]).state).toBe("running");
});

test("an accepted plan and a hook's rules are lines of the log, no part of a call", () => {
  const rules = [{ pattern: "bash", decision: "deny" }];
  const { entries, calls } = replay([
    ...ASKS,
    event(6, "plan.accepted", { call_id: "c9", plan: "1. Read" }),
    event(7, "rules.updated", { hook: "guard", rules, call_id: "" }),
  ]);
  expect(entries.flatMap((entry) => (entry.kind === "note" ? [entry.text] : []))).toEqual([
    "plan accepted",
    "rules of this workstream, set by the hook guard: bash deny",
  ]);
  expect([...calls.keys()]).toEqual(["c1", "c2"]);
});

test("a kind of a newer version that names a call is a line of the log", () => {
  const newer = { ...event(6, "plan.accepted", { call_id: "c1" }), kind: "call.weighed" } as unknown as (typeof ASKS)[number];
  const { calls, entries } = replay([...ASKS, newer]);
  expect(calls.get("c1")?.tool).toBe("ask_user_question");
  expect(entries.at(-1)).toMatchObject({ kind: "note", text: "call.weighed, of a newer version" });
});

test("where a rule lives is said, the built-in tier by its origin", () => {
  expect(scopeWords("session", "static")).toBe("built-in");
  expect(scopeWords("session", "approval")).toBe("this workstream, from an approval");
  expect(scopeWords("session", "hook_update")).toBe("this workstream, from a hook");
  expect(scopeWords("user", "approval")).toBe("user, from an approval");
  expect(scopeWords("project", "static")).toBe("project");
});
