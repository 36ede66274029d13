/** Schedules in the page's words. */

import type { RunState, Schedule, ScheduleKind } from "../api/types";
import { clock, day, secondsBetween, span } from "../design/format";
import type { GlyphName, IconName } from "../design/glyph";

export const ICONS: Record<ScheduleKind, IconName> = { once: "cal", interval: "schedules", cron: "schedules", watch: "eye" };

/** When it comes due, for a person: every 5 min, once on a day, by cron in a zone. */
export function whenOf({ cadence }: Schedule): string {
  if ("once" in cadence) return `once, ${dayAndClock(cadence.once.at)}`;
  if ("interval" in cadence) return `every ${every(cadence.interval.every_seconds)}`;
  if ("cron" in cadence) return `cron, ${cadence.cron.timezone}`;
  const { poll_every: pollEvery, stop_on: stopOn } = cadence.watch;
  return `every ${every(pollEvery)}, ${stopOn ? "until it holds" : "on change"}`;
}

/** The same as it was asked for, to the letter. */
export function exactly({ cadence }: Schedule): string {
  if ("once" in cadence) return cadence.once.at;
  if ("interval" in cadence) return `interval ${cadence.interval.every_seconds} s`;
  if ("cron" in cadence) return cadence.cron.expression;
  const { command, stop_on: stopOn } = cadence.watch;
  return stopOn ? `${command}, stop_on ${stopOn}` : command;
}

/** Whether it still can come due. */
export function lives({ state }: Schedule): boolean {
  return state === "active" || state === "paused";
}

/** How long until it is due: in 12 s, due now, the day where that is far; otherwise why it never is. */
export function dueIn({ state, next_due: due }: Schedule, now: number): string {
  if (state !== "active") return state === "canceled" ? "cancelled" : state;
  if (!due) return "";
  const seconds = (Date.parse(due) - now) / 1000;
  if (seconds <= 0) return "due now";
  return seconds < 86_400 ? `in ${span(Math.ceil(seconds))}` : dayAndClock(due);
}

export interface Result {
  glyph: GlyphName;
  words: string;
  beside: string;
}

const LOOKS: Record<RunState, [GlyphName, string]> = {
  handed: ["wait", "handed out"],
  started: ["run", "runs"],
  done: ["done", "done"],
  skipped: ["off", "skipped"],
  lost: ["unk", "outcome unknown"],
};

/** What came of its last run; one that does not go on says that, with why. */
export function resultOf(schedule: Schedule, now: number): Result {
  const { state, detail, last_run: run } = schedule;
  if (state === "paused") return { glyph: "paused", words: "paused", beside: detail };
  const ago = run ? `${span(secondsBetween(run.due_at, now))} ago` : "";
  const why = lives(schedule) ? run?.detail : detail || run?.detail;
  const beside = [why, ago].filter(Boolean).join(", ");
  if (!run) return { glyph: "off", words: lives(schedule) ? "not yet" : "never ran", beside };
  const [glyph, words] = LOOKS[run.state];
  return { glyph, words, beside };
}

const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** A length that was chosen, in the largest unit that is exact: 30 s, 5 min, 25 h. */
function every(seconds: number): string {
  const [unit, word] = UNITS.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, "s"];
  return `${seconds / unit} ${word}`;
}

function dayAndClock(at: string): string {
  const moment = Date.parse(at);
  return `${day(moment)} ${clock(new Date(moment).toISOString())}`;
}
