import { expect, test } from "vitest";
import type { View, WaitFor, WaitKind } from "../api/types";
import { groupWaits } from "./waits";

function waiting(name: string, ...waits: [WaitKind, string, string][]): View {
  const waitingFor: WaitFor[] = waits.map(([kind, since, detail]) => ({ kind, since, detail }));
  return { name, title: "", waiting_for: waitingFor } as unknown as View;
}

test("causes are counted, the most frequent first, with the one that waits longest", () => {
  const views = [
    waiting("a", ["approval", "2026-01-01T00:00:05Z", "bash"]),
    waiting("b", ["wake", "2026-01-01T00:00:09Z", ""]),
    waiting("c", ["wake", "2026-01-01T00:00:03Z", "at noon"]),
  ];
  expect(groupWaits(views)).toEqual([
    { kind: "wake", count: 2, since: "2026-01-01T00:00:03Z", cause: "at noon", look: "calm" },
    { kind: "approval", count: 1, since: "2026-01-01T00:00:05Z", cause: "bash", look: "you" },
  ]);
});

test("who waits for two things counts with both", () => {
  const both = waiting("a", ["mcp", "2026-01-01T00:00:05Z", ""], ["question", "2026-01-01T00:00:06Z", "which?"]);
  expect(groupWaits([both]).map(({ kind, count, cause }) => [kind, count, cause])).toEqual([
    ["mcp", 1, "a"],
    ["question", 1, "which?"],
  ]);
});
