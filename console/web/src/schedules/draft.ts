/** A schedule that a person is writing, before it is one. */

import type { NewSchedule, ScheduleKind } from "../api/types";

export interface Draft {
  workstream: string;
  name: string;
  kind: ScheduleKind;
  message: string;
  /** Local time, as a field of a form holds it: 2026-01-01T09:00. */
  at: string;
  everySeconds: string;
  expression: string;
  timezone: string;
  command: string;
  pollEvery: string;
  stopOn: string;
}

/** A draft with nothing in it yet but what most want. */
export function blank(timezone: string): Draft {
  const words = { workstream: "", name: "", message: "", at: "", expression: "", command: "", stopOn: "" };
  return { ...words, kind: "interval", everySeconds: "3600", pollEvery: "30", timezone };
}

/** What the console is asked for. It judges every value itself, so nothing is mended here. */
export function requestOf(draft: Draft): NewSchedule {
  const { workstream, name, message } = draft;
  const named = { workstream, name: name.trim(), ...(message.trim() ? { message } : {}) };
  switch (draft.kind) {
    case "once":
      return { ...named, once: { at: draft.at ? new Date(draft.at).toISOString() : "" } };
    case "interval":
      return { ...named, interval: { every_seconds: Number(draft.everySeconds) } };
    case "cron":
      return { ...named, cron: { expression: draft.expression, timezone: draft.timezone } };
    case "watch": {
      const watch = { command: draft.command, poll_every: Number(draft.pollEvery), stop_on: draft.stopOn, max_polls: 100 };
      return { ...named, watch };
    }
  }
}
