import { expect, test } from "vitest";
import { filesOf } from "./files";
import { foldAll, replay } from "./fold";
import { event, STORY } from "./story";

const decided = (call_id: string, canonical: string, effect: string) => ({ call_id, tool: canonical, canonical, effect, decision: "allow" });
const asked = (call_id: string, tool: string) => ({ call_id, tool, arguments: '{"path":"a.txt"}', provider_id: "" });
const ended = (call_id: string, is_error: boolean) => ({ call_id, tool: "", is_error, output: "", outcome: is_error ? "error" : "ok", duration_ms: 1, truncated: false });

test("a file stands once, with its last change; a call that failed changed nothing", () => {
  const { calls } = foldAll(replay(STORY), [
    event(19, "message.assistant", { text: "", reasoning: "", model: "", calls: [asked("d1", "edit"), asked("d2", "read_file"), asked("d3", "write_file")] }),
    event(20, "call.decided", decided("d1", "edit_file", "write")),
    event(21, "call.decided", decided("d2", "read_file", "read")),
    event(22, "call.decided", decided("d3", "write_file", "write")),
    event(23, "call.finished", ended("d1", false)),
    event(24, "call.finished", ended("d2", false)),
    event(25, "call.finished", ended("d3", true)),
  ]);
  expect(filesOf(calls)).toEqual([{ path: "a.txt", changedAt: "2026-11-14T12:00:23.000Z", at: "2026-11-14T12:00:24.000Z" }]);
});
