/** A workstream's state as shape, colour and word. */

import type { State, WaitFor, WaitKind } from "../api/types";
import { Glyph, type GlyphName } from "./glyph";

const NEEDS_A_PERSON: ReadonlySet<WaitKind> = new Set(["approval", "question", "budget"]);
const CALM: ReadonlySet<WaitKind> = new Set(["child", "wake"]);

export type Look = "run" | "you" | "wait" | "idle" | "fail" | "closed";

const WORDS: Record<Look, string> = {
  run: "running",
  you: "needs you",
  wait: "waits",
  idle: "idle",
  fail: "failed",
  closed: "closed",
};
const RESTING: Record<Exclude<State, "waiting">, Look> = { idle: "idle", running: "run", failed: "fail", closed: "closed" };

/** How a state looks, by what it waits for. */
export function lookOf(state: State, waitingFor: readonly WaitFor[]): Look {
  if (state !== "waiting") return RESTING[state];
  return waitingFor.some((wait) => NEEDS_A_PERSON.has(wait.kind)) ? "you" : "wait";
}

/** The colour of the reason: a person's part, a cause to mind, or calm text. */
export function toneOf(state: State, waitingFor: readonly WaitFor[]): string {
  const look = lookOf(state, waitingFor);
  if (look === "you") return "c-leg";
  if (look === "fail") return "c-berry";
  return look === "wait" && !waitingFor.every((wait) => CALM.has(wait.kind)) ? "c-reed" : "";
}

interface StateLabelProps {
  look: Look;
  boxed?: boolean;
  /** Said instead of the state's own word. */
  words?: string;
}

export function StateLabel({ look, boxed = false, words }: StateLabelProps) {
  const glyph: GlyphName = look;
  return (
    <span className={`st st-${look}${boxed ? " box" : ""}`}>
      <Glyph name={glyph} />
      {words ?? WORDS[look]}
    </span>
  );
}
