/** One entry of the log, whatever its kind. */

import { memo } from "react";
import { ApprovalCard } from "../approvals/approval-card";
import { QuestionEntry } from "../approvals/question-entry";
import { clock, fullTime, initials, secondsBetween, spanExact } from "../design/format";
import { Glyph } from "../design/glyph";
import { MarkdownView } from "../design/markdown-view";
import { OutputView } from "../preview/output-view";
import { CallCard } from "./call-card";
import { isRunning, pendingApproval, pendingQuestion, type Call, type Entry } from "./conversation";
import { DOT, EntryRow } from "./entry-row";
import { InterruptedCard } from "./interrupted-card";

/** What an entry may do to the page. All are stable, so that a growing log renders only what is new. */
export interface EntryActs {
  workstream: string;
  agent: string;
  owner: string;
  onFork: (seq: number) => void;
  onTell: (text: string) => void;
  onRetry: () => void;
}

interface EntryViewProps {
  entry: Entry;
  call: Call | undefined;
  acts: EntryActs;
  /** The approval that single keys answer is this entry's. */
  first: boolean;
  /** The log ends here. */
  last: boolean;
  at: boolean;
  /** The failure that still stands. */
  standing: boolean;
}

export const EntryView = memo(function EntryView(props: EntryViewProps) {
  const { entry, call, acts, at } = props;
  switch (entry.kind) {
    case "user":
      return <UserEntry entry={entry} acts={acts} at={at} />;
    case "answer":
      return <AnswerEntry entry={entry} acts={acts} at={at} />;
    case "call":
      return call ? <CallEntry {...props} entry={entry} call={call} /> : null;
    case "turn":
      return <TurnLine entry={entry} />;
    case "note":
      return (
        <li className="turn" id={`e${entry.seq}`} title={fullTime(entry.at)}>
          {entry.text} {clock(entry.at)}
        </li>
      );
    case "summary":
      return (
        <EntryRow seq={entry.seq} at={at} pin={DOT}>
          <details className="think">
            <summary>Compacted: up to #{entry.through} the model reads a summary</summary>
            <div className="thought">{entry.summary}</div>
          </details>
        </EntryRow>
      );
    case "output":
      return (
        <EntryRow seq={entry.seq} at={at} pin={DOT}>
          <OutputView parts={entry.parts} inline={entry.inline} />
        </EntryRow>
      );
    case "failure":
      return <FailureEntry entry={entry} acts={acts} standing={props.standing} />;
  }
});

type Of<Kind extends Entry["kind"]> = Extract<Entry, { kind: Kind }>;

function UserEntry({ entry, acts, at }: { entry: Of<"user">; acts: EntryActs; at: boolean }) {
  const author = entry.author || acts.owner;
  const pin =
    entry.source === "user" ? (
      <span className="pin av" aria-hidden="true">
        {initials(author)}
      </span>
    ) : (
      DOT
    );
  return (
    <EntryRow seq={entry.seq} at={at} pin={pin} onFork={acts.onFork}>
      <div className="by">
        <b>{author}</b>
        <time dateTime={entry.at} title={fullTime(entry.at)}>
          {clock(entry.at)}
        </time>
        {entry.source !== "user" && <span className="tag">{entry.source}</span>}
        {entry.queued && <span>read when this turn has ended</span>}
      </div>
      <div className="prose plain">{entry.text}</div>
    </EntryRow>
  );
}

function AnswerEntry({ entry, acts, at }: { entry: Of<"answer">; acts: EntryActs; at: boolean }) {
  return (
    <EntryRow seq={entry.seq} at={at} pin={DOT} onFork={acts.onFork}>
      <div className="by">
        <b>{acts.agent}</b>
        <time dateTime={entry.at} title={fullTime(entry.at)}>
          {clock(entry.at)}
        </time>
        {entry.model && <span>{entry.model}</span>}
      </div>
      <Reasoning text={entry.reasoning} />
      {entry.text && <MarkdownView text={entry.text} />}
    </EntryRow>
  );
}

/** What the model thought, folded. */
export function Reasoning({ text }: { text: string }) {
  if (!text) return null;
  return (
    <details className="think">
      <summary>reasoning</summary>
      <div className="thought">{text}</div>
    </details>
  );
}

type CallEntryProps = EntryViewProps & { entry: Of<"call">; call: Call };

function CallEntry({ entry, call, acts, first, last, at }: CallEntryProps) {
  const requested = pendingApproval(call);
  if (call.interrupted) {
    return (
      <EntryRow seq={entry.seq} kind="card-e" at={at} pin={<Pin tone="c-reed" name="unk" />} onFork={acts.onFork}>
        <InterruptedCard call={call} interrupted={call.interrupted} onTell={acts.onTell} />
      </EntryRow>
    );
  }
  if (requested) {
    const effect = call.decided?.effect ?? "process";
    return (
      <EntryRow seq={entry.seq} kind="card-e" at={at} pin={<Pin tone="c-need" name="you" />}>
        <ApprovalCard
          key={requested.request_id}
          workstream={acts.workstream}
          owner={acts.owner}
          call={call}
          requested={requested}
          effect={effect}
          first={first}
        />
      </EntryRow>
    );
  }
  const asked = pendingQuestion(call);
  if (asked) {
    return (
      <EntryRow seq={entry.seq} kind="card-e" at={at} pin={<Pin tone="c-need" name="you" />}>
        <QuestionEntry workstream={acts.workstream} owner={acts.owner} asked={asked} first={first} />
      </EntryRow>
    );
  }
  const open = last && call.decided?.effect === "process" && !call.resolved?.behavior.startsWith("deny");
  return (
    <EntryRow
      seq={entry.seq}
      kind="call-e"
      at={at}
      pin={isRunning(call) ? <Pin tone="c-tide" name="run" /> : DOT}
      onFork={isRunning(call) ? undefined : acts.onFork}
    >
      <CallCard call={call} open={open} />
    </EntryRow>
  );
}

function Pin({ tone, name }: { tone: string; name: "unk" | "you" | "run" }) {
  return (
    <span className={`pin ${tone}`}>
      <Glyph name={name} />
    </span>
  );
}

function TurnLine({ entry }: { entry: Of<"turn"> }) {
  const waited = entry.waitedSince ? secondsBetween(entry.waitedSince, entry.at) : 0;
  const notes = [
    clock(entry.at),
    waited >= 1 ? `waited ${spanExact(waited)} at no cost` : "",
    entry.resumed ? `taken up again, epoch ${entry.epoch}` : "",
  ];
  return (
    <li className="turn" id={`e${entry.seq}`} title={`${fullTime(entry.at)}, epoch ${entry.epoch}`}>
      turn {entry.number} <span>{entry.node}</span> {notes.filter(Boolean).join(", ")}
    </li>
  );
}

function FailureEntry({ entry, acts, standing }: { entry: Of<"failure">; acts: EntryActs; standing: boolean }) {
  return (
    <EntryRow seq={entry.seq} kind="call-e" pin={<span className="pin c-berry"><Glyph name="fail" /></span>}>
      <div className="notice bad">
        <p>
          <b>The turn failed</b> at <time dateTime={entry.at}>{clock(entry.at)}</time> ({entry.code}). {entry.detail}
        </p>
        {standing && (
          <button type="button" className="btn sm" onClick={acts.onRetry}>
            Retry
          </button>
        )}
      </div>
    </EntryRow>
  );
}
