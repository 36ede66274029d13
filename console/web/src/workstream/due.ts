/** What the log says of schedules, watches, notifications, each in a line. */

import type { KnownEvent, NotificationRequested, NotificationSettled, ScheduleChanged } from "../api/events";
import type { Draft } from "./draft";

export type DueEvent = Extract<
  KnownEvent,
  {
    kind:
      | "schedule.created"
      | "schedule.changed"
      | "schedule.triggered"
      | "schedule.fired"
      | "notification.requested"
      | "notification.settled";
  }
>;

/** Whether an event is about what comes due, or about who was told. */
export function isDue(event: KnownEvent): event is DueEvent {
  return event.kind.startsWith("schedule.") || event.kind.startsWith("notification.");
}

/** The event in a line; a schedule's name is kept for the lines that follow. */
export function dueNote(draft: Draft, event: DueEvent): string {
  switch (event.kind) {
    case "schedule.created": {
      const called = `${event.watch ? "watch" : "schedule"} ${event.name}`;
      draft.schedules.set(event.schedule_id, called);
      return `${called} set up${by(event.by)}`;
    }
    case "schedule.changed":
      return `${calledIn(draft, event.schedule_id)} ${changed(event)}`;
    case "schedule.triggered":
      return `${calledIn(draft, event.schedule_id)} asked to run now${by(event.by)}`;
    case "schedule.fired":
      return `${calledIn(draft, event.schedule_id)} came due`;
    case "notification.requested":
      return `notification to ${targetOf(event)}: ${event.title ? `${event.title}. ` : ""}${event.message}`;
    case "notification.settled":
      return settled(event);
  }
}

const STATES = { active: "goes on", paused: "paused", completed: "is over", canceled: "cancelled" } as const;

function changed({ state, by: whom, detail }: ScheduleChanged): string {
  const acted = state === "paused" || state === "canceled" ? by(whom) : "";
  return `${STATES[state]}${acted}${detail ? `: ${detail}` : ""}`;
}

function settled({ sent, detail }: NotificationSettled): string {
  const ended = sent ? "notification delivered" : "notification not delivered";
  return detail ? `${ended}: ${detail}` : ended;
}

function targetOf({ username, channel_type: type, channel_id: channel }: NotificationRequested): string {
  return username || [type, channel].filter(Boolean).join(" ") || "whoever owns this";
}

function calledIn(draft: Draft, id: string): string {
  return draft.schedules.get(id) ?? `schedule ${id}`;
}

function by(person: string): string {
  return person ? ` by ${person}` : "";
}
