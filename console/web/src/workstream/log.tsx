/** The log on its spine: what was said and done, in order, and what is under way. */

import { memo, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { counted } from "../design/format";
import { Glyph } from "../design/glyph";
import { MarkdownView } from "../design/markdown-view";
import { pendingAsks, type Conversation } from "./conversation";
import { EntryRow } from "./entry-row";
import { EntryView, Reasoning, type EntryActs } from "./entry-view";

const SHOWN_FIRST = 60;
const SHOWN_MORE = 200;
/** As near to the end as this (pixels), the log follows what is new. */
const NEAR_THE_END = 120;

interface LogProps {
  conversation: Conversation;
  acts: EntryActs;
  /** The event that the person walked to. */
  at: number;
  scroller: RefObject<HTMLElement | null>;
}

export const Log = memo(function Log({ conversation, acts, at, scroller }: LogProps) {
  const { entries, calls, live, state } = conversation;
  const [extra, setExtra] = useState(0);
  useFollow(scroller, conversation);
  const wanted = at > 0 ? entries.findIndex((entry) => entry.seq >= at) : entries.length;
  const start = Math.max(0, Math.min(entries.length - SHOWN_FIRST - extra, wanted === -1 ? entries.length : wanted));
  const first = pendingAsks(conversation)[0]?.call_id;
  const lastFailure = state === "failed" ? entries.findLast((entry) => entry.kind === "failure") : undefined;
  return (
    <ol className="log" aria-label="Events">
      {start > 0 && (
        <li className="earlier">
          <button type="button" className="btn sm quiet" onClick={() => setExtra(extra + SHOWN_MORE)}>
            {earlier(conversation, start)}
          </button>
        </li>
      )}
      {entries.slice(start).map((entry, index) => (
        <EntryView
          key={entry.kind === "call" ? entry.callId : entry.seq}
          entry={entry}
          call={entry.kind === "call" ? calls.get(entry.callId) : undefined}
          acts={acts}
          first={entry.kind === "call" && entry.callId === first}
          last={start + index === entries.length - 1}
          at={entry.seq === at}
          standing={entry === lastFailure}
        />
      ))}
      {live && (live.text || live.reasoning) && (
        <EntryRow seq={0} mark="live" pin={<span className="pin c-tide"><Glyph name="run" /></span>}>
          <div className="by">
            <b>{acts.agent}</b>
            {conversation.model && <span>{conversation.model}</span>}
          </div>
          <Reasoning text={live.reasoning} />
          {live.text && <MarkdownView text={live.text} streaming />}
        </EntryRow>
      )}
    </ol>
  );
});

function earlier({ entries }: Conversation, start: number): string {
  const hidden = entries.slice(0, start);
  const turns = hidden.filter((entry) => entry.kind === "turn").length;
  return `${counted(start, "earlier event")}, ${counted(turns, "turn")}`;
}

/** Keeps the end in sight while the person is there. */
function useFollow(scroller: RefObject<HTMLElement | null>, conversation: Conversation): void {
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_THE_END;
    };
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && follows.current) element.scrollTo({ top: element.scrollHeight });
  }, [scroller, conversation]);
}
