import { expect, test } from "vitest";
import type { Cadence, LastRun, Schedule } from "../api/types";
import { dueIn, exactly, resultOf, whenOf } from "./wording";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const HOURLY: Cadence = { interval: { every_seconds: 3600 } };

function schedule(cadence: Cadence = HOURLY, more: Partial<Schedule> = {}): Schedule {
  const rest = { next_due: null, last_run: null, runs: 0, message: "", created_at: "", detail: "" };
  return { id: "s", name: "s", workstream: "w", kind: "interval", cadence, state: "active", ...rest, ...more };
}

test("each kind says when it comes due", () => {
  const cadences: Cadence[] = [
    HOURLY,
    { interval: { every_seconds: 90 } },
    { interval: { every_seconds: 90_000 } },
    { once: { at: "2026-01-02T09:00:00Z" } },
    { cron: { expression: "0 7 * * 1", timezone: "Europe/Berlin" } },
    { watch: { command: "cat x", poll_every: 30, stop_on: "changed", max_polls: 9 } },
    { watch: { command: "cat x", poll_every: 60, stop_on: "", max_polls: 9 } },
  ];
  expect(cadences.map((cadence) => whenOf(schedule(cadence)))).toEqual([
    "every 1 h",
    "every 90 s",
    "every 25 h",
    "once, Fri 2 Jan 2026 09:00:00",
    "cron, Europe/Berlin",
    "every 30 s, until it holds",
    "every 1 min, on change",
  ]);
  expect(cadences.slice(4).map((cadence) => exactly(schedule(cadence)))).toEqual([
    "0 7 * * 1",
    "cat x, stop_on changed",
    "cat x",
  ]);
});

test("a due time is near, far, over, or out of question", () => {
  const at = (due: string) => schedule(HOURLY, { next_due: due });
  expect(dueIn(at("2026-01-01T12:00:11.5Z"), NOW)).toBe("in 12 s");
  expect(dueIn(at("2026-01-03T12:00:00Z"), NOW)).toBe("Sat 3 Jan 2026 12:00:00");
  expect(dueIn(at("2026-01-01T11:59:59Z"), NOW)).toBe("due now");
  expect(dueIn(schedule(HOURLY, { state: "paused" }), NOW)).toBe("paused");
  expect(dueIn(schedule(HOURLY, { state: "canceled" }), NOW)).toBe("cancelled");
});

test("the last run says what came of it", () => {
  const run: LastRun = { due_at: "2026-01-01T11:59:00Z", state: "skipped", detail: "one still ran" };
  const skipped = { glyph: "off", words: "skipped", beside: "one still ran, 1 min ago" };
  expect(resultOf(schedule(HOURLY, { last_run: run }), NOW)).toEqual(skipped);
  expect(resultOf(schedule(), NOW).words).toBe("not yet");
  expect(resultOf(schedule(HOURLY, { state: "paused" }), NOW).words).toBe("paused");
});

test("one that ended says what ended it", () => {
  const run: LastRun = { due_at: "2026-01-01T11:59:00Z", state: "done", detail: "" };
  const ended = schedule(HOURLY, { state: "completed", last_run: run, detail: "it was due once" });
  expect(resultOf(ended, NOW)).toEqual({ glyph: "done", words: "done", beside: "it was due once, 1 min ago" });
});
