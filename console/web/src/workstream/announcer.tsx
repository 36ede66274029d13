/** Says aloud what is new: finished paragraphs of an answer, approvals that wait. */

import { useEffect, useRef, useState } from "react";
import { pendingAsks, type Conversation } from "./conversation";

/** Signs of Markdown, which nobody wants read aloud. */
const MARKUP = /[*`_#>|]+/g;

export function Announcer({ conversation }: { conversation: Conversation }) {
  const said = useSpoken(conversation);
  const [ask] = pendingAsks(conversation);
  return (
    <>
      <p className="vh" role="log" aria-label="The answer, by paragraph">
        {said}
      </p>
      <p className="vh" role="status">
        {ask ? `Needs you: ${wanted(ask)}` : ""}
      </p>
    </>
  );
}

function wanted(ask: ReturnType<typeof pendingAsks>[number]): string {
  if (ask.kind === "question.asked") return `a question: ${ask.questions[0]?.text ?? ""}`;
  return `${ask.tool} ${ask.preview.title} waits for approval`;
}

/** The last paragraph that was finished since the page was opened. */
function useSpoken({ live, entries, seq }: Conversation): string {
  const [said, setSaid] = useState("");
  const opened = useRef(0);
  const newest = entries.at(-1);
  const paragraphs = live?.text.split(/\n{2,}/) ?? [];
  const streamed = paragraphs.length > 1 ? paragraphs.at(-2) : undefined;
  useEffect(() => {
    const ended = newest?.kind === "answer" && newest.seq > opened.current ? newest.text : undefined;
    const next = streamed ?? ended?.split(/\n{2,}/).at(-1);
    if (next && opened.current > 0) setSaid(next.replace(MARKUP, ""));
    if (opened.current === 0) opened.current = seq;
  }, [streamed, newest, seq]);
  return said;
}
