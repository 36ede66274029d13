import { expect, test } from "vitest";
import { blank, requestOf } from "./draft";

const DRAFT = { ...blank("Europe/Berlin"), workstream: "ws_1", name: " digest ", message: "look" };

test("a draft asks for what its kind needs, nothing of the others", () => {
  const named = { workstream: "ws_1", name: "digest", message: "look" };
  expect(requestOf(DRAFT)).toEqual({ ...named, interval: { every_seconds: 3600 } });
  expect(requestOf({ ...DRAFT, kind: "cron", expression: "0 7 * * 1" })).toEqual({
    ...named,
    cron: { expression: "0 7 * * 1", timezone: "Europe/Berlin" },
  });
  expect(requestOf({ ...DRAFT, message: "", kind: "watch", command: "cat x" })).toEqual({
    workstream: "ws_1",
    name: "digest",
    watch: { command: "cat x", poll_every: 30, stop_on: "", max_polls: 100 },
  });
});

test("a time of the person's own clock is sent in UTC", () => {
  const once = requestOf({ ...DRAFT, kind: "once", at: "2026-01-01T09:00" });
  expect(once).toMatchObject({ once: { at: new Date(2026, 0, 1, 9).toISOString() } });
});
