import { expect, it } from "vitest";
import type { AnyEvent } from "../api/events";
import { replay } from "../workstream/fold";

const AT = "2026-11-30T08:15:00.000Z";
const DIGEST = `sha256:${"0".repeat(64)}`;

it("what an agent hands over stands in the log: a line for a preview, the parts of an output", () => {
  const parts = [
    { type: "text", text: "See" },
    { type: "asset", asset_id: DIGEST, media_type: "image/png", size: 5 },
  ] as const;
  const events = [
    { kind: "preview.opened", seq: 1, at: AT, call_id: "call_1", shows: "table", title: "levels.csv", digest: DIGEST, source: "levels.csv", media_type: "text/csv", size: 9 },
    { kind: "assets.stored", seq: 2, at: AT, call_id: "call_2", tool: "store_asset", assets: [] },
    { kind: "output.emitted", seq: 3, at: AT, call_id: "call_3", parts: [...parts], inline: true },
  ] satisfies AnyEvent[];

  expect(replay(events).entries).toEqual([
    { kind: "note", seq: 1, at: AT, text: "table levels.csv shown" },
    { kind: "output", seq: 3, at: AT, parts, inline: true },
  ]);
});
