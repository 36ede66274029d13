/** Where a piece of text in progress belongs. */

import type { Delta } from "../api/events";
import type { Draft } from "./draft";

/** Puts a piece where its offset says. True where the picture changed; a piece that is missing before it tears. */
export function placeDelta(draft: Draft, delta: Delta): boolean {
  return delta.channel === "output" ? placeOutput(draft, delta) : placeAnswer(draft, delta);
}

/**
 * The text with a piece at its offset, counted in code points. What is there already is kept; where both differ
 * the newer counts. Null where text is missing between.
 */
export function placed(have: string, offset: number, piece: string): string | null {
  const at = unitsBefore(have, offset);
  if (at === null) return null;
  const joined = have.slice(0, at) + piece;
  return have.startsWith(joined) ? have : joined;
}

function placeOutput(draft: Draft, delta: Delta): boolean {
  const call = draft.calls.get(delta.call_id ?? "");
  if (!call || call.finished || call.interrupted) return false;
  const output = placed(call.output, delta.offset, delta.text);
  if (output === null) return tear(draft);
  if (output === call.output) return false;
  draft.calls.set(call.id, { ...call, output });
  return true;
}

function placeAnswer(draft: Draft, delta: Delta): boolean {
  if (delta.step < draft.floor) return false;
  let live = draft.live;
  if (live && delta.step < live.step) return false;
  if (!live || delta.step > live.step) live = { step: delta.step, text: "", reasoning: "" };
  const channel = delta.channel === "reasoning" ? "reasoning" : "text";
  const text = placed(live[channel], delta.offset, delta.text);
  if (text === null) return tear(draft);
  if (live === draft.live && text === live[channel]) return false;
  draft.live = { ...live, [channel]: text };
  return true;
}

function tear(draft: Draft): boolean {
  draft.torn = true;
  return true;
}

const ASTRAL = /[\ud800-\udbff]/;

/** How many UTF-16 units stand before a code point, or null where the text is shorter. */
function unitsBefore(text: string, points: number): number | null {
  if (!ASTRAL.test(text)) return points <= text.length ? points : null;
  let units = 0;
  for (let count = 0; count < points; count += 1) {
    const point = text.codePointAt(units);
    if (point === undefined) return null;
    units += point > 0xffff ? 2 : 1;
  }
  return units;
}
