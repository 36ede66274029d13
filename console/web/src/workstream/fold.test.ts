import { expect, test } from "vitest";
import { BLANK, pendingApprovals, type Conversation } from "./conversation";
import { fold, foldAll, rejoined, replay } from "./fold";
import { delta, event, STORY, WATCHED } from "./story";

const whole = replay(STORY);

/** A conversation as it shows: whether its stream was just opened does not. */
const picture = (conversation: Conversation) => ({ ...conversation, joined: false });

test("a log folds to its messages, turns and calls in the order of their numbers", () => {
  expect(whole.entries.map((entry) => [entry.kind, entry.seq])).toEqual([
    ["user", 2],
    ["turn", 3],
    ["answer", 4],
    ["call", 7],
    ["call", 6],
    ["turn", 11],
    ["turn", 14],
    ["user", 16],
    ["answer", 17],
  ]);
  expect(whole.state).toBe("idle");
  expect([whole.inputTokens, whole.outputTokens, whole.turns]).toEqual([100, 20, 3]);
});

test("applying any event twice changes nothing", () => {
  let once: Conversation = BLANK;
  for (const one of WATCHED) {
    once = fold(once, one);
    expect(fold(once, one)).toBe(once);
  }
});

test("a watcher who saw every piece and one who reads the log later have the same picture (F-38)", () => {
  expect(foldAll(BLANK, WATCHED)).toEqual(whole);
});

test("a reload or a break at any point gives the same picture (F-38)", () => {
  for (let cut = 0; cut <= WATCHED.length; cut += 1) {
    const before = foldAll(BLANK, WATCHED.slice(0, cut));
    const after = STORY.filter((fact) => "seq" in fact && fact.seq > before.seq);
    expect(picture(foldAll(rejoined(before), after))).toEqual(whole);
  }
});

test("events in one go and one by one fold alike", () => {
  expect(WATCHED.reduce(fold, BLANK)).toEqual(foldAll(BLANK, WATCHED));
});

test("the answer takes the place of the text that streamed", () => {
  const streaming = foldAll(BLANK, WATCHED.slice(0, 5));
  expect(streaming.live?.text).toBe("I li");
  const answered = foldAll(streaming, WATCHED.slice(5, 7));
  expect(answered.live).toBeNull();
  expect(answered.entries.at(-3)).toMatchObject({ kind: "answer", text: "I list it." });
});

test("a piece of an answer that stands already comes too late and is left out", () => {
  const answered = replay(STORY.slice(0, 4));
  expect(fold(answered, delta("text", 3, 4, "st it."))).toBe(answered);
});

test("a number that is missing tears the stream, and nothing after it is taken", () => {
  const torn = foldAll(replay(STORY.slice(0, 3)), STORY.slice(4, 7));
  expect(torn.torn).toBe(true);
  expect(torn.seq).toBe(3);
});

test("a piece that is missing tears the stream until it is opened again and says the whole text", () => {
  const start = fold(replay(STORY.slice(0, 3)), delta("text", 3, 0, "I "));
  const torn = fold(start, delta("text", 3, 9, "."));
  expect(torn.torn).toBe(true);
  const mended = fold(rejoined(torn), delta("text", 3, 0, "I list it"));
  expect([mended.torn, mended.live?.text]).toEqual([false, "I list it"]);
});

test("a step that began anew begins its text anew", () => {
  const first = fold(replay(STORY.slice(0, 3)), delta("text", 3, 0, "half an ans"));
  const taken = fold(first, event(4, "turn.started", { node: "node-2", epoch: 2 }));
  expect(taken.live).toBeNull();
  expect(fold(taken, delta("text", 4, 0, "An")).live).toEqual({ step: 4, text: "An", reasoning: "" });
});

test("an approval waits until somebody answers it", () => {
  expect(pendingApprovals(replay(STORY.slice(0, 9))).map((one) => one.request_id)).toEqual(["r1"]);
  expect(pendingApprovals(replay(STORY.slice(0, 10)))).toEqual([]);
  expect(replay(STORY.slice(0, 10)).state).toBe("running");
});

test("a turn after a wait says since when it waited, one after a lost node that it was taken up again", () => {
  const turns = whole.entries.filter((entry) => entry.kind === "turn");
  expect(turns.map(({ waitedSince, resumed }) => [waitedSince, resumed])).toEqual([
    ["", false],
    ["2026-11-14T12:00:09.000Z", false],
    ["", true],
  ]);
});

test("a message for after the turn is queued until the turn has ended", () => {
  const queued = replay(STORY.slice(0, 16)).entries.at(-1);
  expect(queued).toMatchObject({ kind: "user", queued: true });
  expect(whole.entries.at(-2)).toMatchObject({ kind: "user", queued: false });
});

test("output in progress grows on its call and gives way to the result", () => {
  const started = replay(STORY.slice(0, 12));
  const first = fold(started, delta("output", 12, 0, "total", "c1"));
  const second = fold(first, delta("output", 12, 5, " 0\n", "c1"));
  expect(second.calls.get("c1")?.output).toBe("total 0\n");
  const ended = fold(second, event(13, "call.interrupted", { call_id: "c1", tool: "bash", node: "node-2", output: "Outcome unknown." }));
  expect(ended.calls.get("c1")?.output).toBe("");
  expect(ended.calls.get("c1")?.interrupted?.node).toBe("node-2");
});

test("what passes by without a place in the conversation leaves it as it is", () => {
  const streaming = fold(replay(STORY.slice(0, 3)), delta("text", 3, 0, "I li"));
  const output = { kind: "task.output", task_id: "task_1", state: "in_progress", offset: 0, text: "low" } as const;
  expect(fold(streaming, output)).toBe(streaming);
});

test("what still streams of a turn that was stopped is left out, and tears nothing", () => {
  const streaming = fold(replay(STORY.slice(0, 3)), delta("text", 3, 0, "I li"));
  const stopped = fold(streaming, event(4, "turn.cancelled", { by: "ines" }));
  expect(stopped.live).toBeNull();
  expect(fold(stopped, delta("text", 3, 4, "st it."))).toBe(stopped);
});

test("what comes due and who is told stands in the log by name", () => {
  const due = replay([
    STORY[0] as (typeof STORY)[number],
    event(2, "schedule.created", { schedule_id: "sch_1", name: "gauge", by: "ines", watch: { command: "cat gauge" } }),
    event(3, "schedule.changed", { schedule_id: "sch_1", state: "paused", by: "ines" }),
    event(4, "schedule.changed", { schedule_id: "sch_1", state: "active", by: "ines" }),
    event(5, "schedule.triggered", { schedule_id: "sch_1", run_id: "r", by: "ines" }),
    event(6, "schedule.fired", { schedule_id: "sch_1", run_id: "r" }),
    event(7, "message.user", { text: "flood", source: "watch", author: "sch_1", queued: false }),
    event(8, "schedule.changed", { schedule_id: "sch_1", state: "completed", by: "", detail: "it held" }),
    event(9, "notification.requested", { delivery_id: "d", message: "Low water", username: "ines" }),
    event(10, "notification.settled", { delivery_id: "d", sent: false, detail: "no channel" }),
  ]);
  expect(due.entries.map((entry) => (entry.kind === "note" ? entry.text : entry.kind === "user" && `${entry.author}: ${entry.text}`))).toEqual([
    "watch gauge set up by ines",
    "watch gauge paused by ines",
    "watch gauge goes on",
    "watch gauge asked to run now by ines",
    "watch gauge came due",
    "watch gauge: flood",
    "watch gauge is over: it held",
    "notification to ines: Low water",
    "notification not delivered: no channel",
  ]);
});

test("a failed turn says its mend until it is retried", () => {
  const failed = foldAll(replay(STORY.slice(0, 3)), [
    event(4, "turn.failed", { code: "model_unreachable", detail: "Start the server." }),
    event(5, "state", { state: "failed", waiting_for: [], detail: "" }),
  ]);
  expect([failed.state, failed.detail]).toEqual(["failed", "Start the server."]);
  expect(fold(failed, event(6, "turn.retried", { by: "ines" }))).toMatchObject({ state: "running", detail: "" });
});

test("a kind of a newer version is a line in the log and breaks nothing", () => {
  const newer = { ...event(19, "usage"), kind: "tide.turned" } as unknown as Parameters<typeof fold>[1];
  expect(fold(whole, newer).entries.at(-1)).toMatchObject({ kind: "note", seq: 19, text: "tide.turned, of a newer version" });
});
