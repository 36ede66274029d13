/** What events say about the life of a workstream: its turns, states, mode and end. */

import type { FilePinned, FileUnpinned, StateChanged, TurnStarted } from "../api/events";
import { enter, readQueued, type Draft, type LifeEvent } from "./draft";
import { dueNote, isDue, type DueEvent } from "./due";

/** Records one event that is neither something said nor part of a call. */
export function recordLife(draft: Draft, event: LifeEvent): void {
  const { seq, at } = event;
  switch (event.kind) {
    case "workstream.created":
      draft.name = event.name;
      draft.owner = event.owner;
      draft.persona = event.persona;
      draft.profile = event.profile;
      draft.mode = event.mode;
      draft.model = event.model;
      draft.forkedFrom = event.forked_from;
      draft.forkedAt = event.forked_at;
      enter(draft, "idle", at);
      break;
    case "usage":
      draft.inputTokens += event.input_tokens;
      draft.outputTokens += event.output_tokens;
      break;
    case "turn.started":
      beginTurn(draft, event);
      break;
    case "state":
      rest(draft, event);
      break;
    case "turn.failed":
      enter(draft, "failed", at);
      draft.detail = event.detail;
      silence(draft, seq);
      draft.entries.push({ kind: "failure", seq, at, code: event.code, detail: event.detail });
      break;
    case "context.compacted":
      draft.entries.push({ kind: "summary", seq, at, through: event.through, summary: event.summary });
      break;
    default:
      if (isDue(event)) draft.entries.push({ kind: "note", seq, at, text: dueNote(draft, event) });
      else recordPerson(draft, event);
  }
}

type PersonEvent = Exclude<
  LifeEvent,
  DueEvent | { kind: "workstream.created" | "usage" | "turn.started" | "state" | "turn.failed" | "context.compacted" }
>;

/** What a person did to it, each a line in the log; so is a kind that this version does not know. */
function recordPerson(draft: Draft, event: PersonEvent): void {
  const note = (text: string) => draft.entries.push({ kind: "note", seq: event.seq, at: event.at, text });
  switch (event.kind) {
    case "turn.cancelled":
      silence(draft, event.seq);
      readQueued(draft);
      note(`stopped by ${event.by}`);
      break;
    case "turn.retried":
      enter(draft, "running", event.at);
      note(`retried by ${event.by}`);
      break;
    case "mode.changed":
      draft.mode = event.mode;
      note(`mode ${event.mode}, set by ${event.by}`);
      break;
    case "plan.accepted":
      note("plan accepted");
      break;
    case "rules.updated":
      note(`rules of this workstream, set by the hook ${event.hook}: ${event.rules.map(said).join(", ")}`);
      break;
    case "grant.revoked":
      note(`${event.pattern} asks again, revoked by ${event.by}`);
      break;
    case "file.pinned":
    case "file.unpinned":
    case "tools.found":
    case "preview.opened":
    case "assets.stored":
    case "output.emitted":
      recordHandedOver(draft, event);
      break;
    case "compaction.requested":
      note(`compaction asked for by ${event.by}`);
      break;
    case "workstream.closed":
      enter(draft, "closed", event.at);
      silence(draft, event.seq);
      note(`closed by ${event.by}`);
      break;
    default:
      note(`${(event as { kind: string }).kind}, of a newer version`);
  }
}

type HandedOver = Extract<
  LifeEvent,
  { kind: "file.pinned" | "file.unpinned" | "tools.found" | "preview.opened" | "assets.stored" | "output.emitted" }
>;

/** What a call led to beside its result. */
function recordHandedOver(draft: Draft, event: HandedOver): void {
  const { seq, at } = event;
  const note = (text: string) => draft.entries.push({ kind: "note", seq, at, text });
  switch (event.kind) {
    case "tools.found":
      note(`${event.names.join(", ")} in view from here on`);
      break;
    case "preview.opened":
      note(`${event.shows} ${event.title} shown`);
      break;
    case "assets.stored":
      // The call's own card says what was kept.
      break;
    case "output.emitted":
      if (event.parts.length === 0) note("ended its turn without a word");
      else draft.entries.push({ kind: "output", seq, at, parts: event.parts, inline: event.inline ?? false });
      break;
    default:
      note(pinned(event));
  }
}

function pinned(event: FilePinned | FileUnpinned): string {
  if (event.kind === "file.pinned") return `${event.path} stays in view`;
  return event.gone ? `${event.path} is gone, so it leaves view` : `${event.path} leaves view`;
}

function said({ pattern, decision }: { pattern: string; decision: string }): string {
  return `${pattern} ${decision}`;
}

function beginTurn(draft: Draft, event: TurnStarted): void {
  const { seq, at, node, epoch } = event;
  draft.turns += 1;
  draft.entries.push({
    kind: "turn",
    seq,
    at,
    node,
    epoch,
    number: draft.turns,
    waitedSince: draft.waitedSince,
    resumed: draft.inTurn,
  });
  enter(draft, "running", at);
  draft.node = node;
  draft.epoch = epoch;
  draft.taken = null;
  draft.inTurn = true;
  draft.waitedSince = "";
  silence(draft, seq);
}

function rest(draft: Draft, event: StateChanged): void {
  const failure = draft.detail;
  enter(draft, event.state, event.at);
  draft.waitingFor = event.waiting_for;
  draft.detail = event.detail || (event.state === "failed" ? failure : "");
  if (event.state === "running") return;
  draft.node = "";
  draft.taken = null;
  draft.inTurn = false;
  silence(draft, event.seq);
  draft.waitedSince = event.state === "waiting" ? event.at : "";
  if (event.state !== "waiting") readQueued(draft);
}

/** The answer in progress is over, whatever of it still comes. */
function silence(draft: Draft, seq: number): void {
  draft.live = null;
  draft.floor = seq;
}
