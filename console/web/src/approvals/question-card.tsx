/** What an agent asks: the questions with their options, and the answer. */

import { useMutation } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { answer, declineQuestion } from "../api/commands";
import { queryClient } from "../api/queries";
import type { Audience, QuestionPart } from "../api/types";
import { counted, fullTime, secondsBetween, span } from "../design/format";
import { Glyph } from "../design/glyph";
import { useNow } from "../design/now";
import { say } from "../design/toast";
import { isField, useKeys } from "../shell/keys";
import { answersOf, firstOpen, picked, UNCHOSEN, worded, type Choices } from "./choices";
import { Expiry } from "./expiry";
import { useFocusKept } from "./focus-kept";
import { QuestionFields } from "./question-fields";

const DIGITS = ["1", "2", "3", "4"] as const;

export interface AskedQuestions {
  workstream: string;
  owner: string;
  requestId: string;
  audience: Audience;
  questions: readonly QuestionPart[];
  askedAt: string;
  expiresAt: string | null;
}

interface QuestionCardProps {
  asked: AskedQuestions;
  /** This person may answer. */
  may: boolean;
  /** The one that single keys answer. */
  first: boolean;
  onAnswered?: () => void;
}

export function QuestionCard({ asked, may, first, onAnswered }: QuestionCardProps) {
  const card = useRef<HTMLElement>(null);
  useFocusKept(card);
  const heading = useId();
  const [choices, setChoices] = useState<Choices>({});
  const { questions, requestId, workstream } = asked;
  const sending = useMutation({
    mutationFn: (declines: boolean) =>
      declines ? declineQuestion(workstream, requestId) : answer(workstream, answersOf(questions, choices)),
    onSuccess: (_, declines) => {
      say(declines ? "Declined by you. The agent is told that nobody answers." : "Answered by you. The workstream goes on.");
      onAnswered?.();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["inbox"] }),
  });
  const open = firstOpen(questions, choices);
  const busy = !may || sending.isPending || sending.isSuccess;
  const submit = () => {
    if (!busy && !open) sending.mutate(false);
    else if (open) fieldOf(card, open)?.focus();
  };
  const pick = (digit: string) => {
    const part = open ?? (questions.length === 1 ? questions[0] : undefined);
    const option = part?.options[Number(digit) - 1];
    if (part && option && !busy) setChoices(picked(choices, part, option.option_id));
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  };
  const [single] = questions;
  return (
    // Ctrl Enter answers from whatever field of the card has the focus.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section ref={card} className="card need" aria-labelledby={heading} onKeyDown={press}>
      {first && may && <OptionKeys onPick={pick} onAnswer={submit} />}
      <header>
        <Glyph name="you" />
        <b id={heading}>
          {questions.length === 1 && single ? single.text : `${counted(questions.length, "question")}, answered together`}
        </b>
        <span className="end">
          <Asked at={asked.askedAt} expires={asked.expiresAt !== null} />
          <Expiry at={asked.expiresAt} />
        </span>
      </header>
      <div className="pad stack">
        {questions.map((part) => (
          <QuestionFields
            key={part.question_id}
            part={part}
            alone={questions.length === 1}
            keys={first && may && (part === open || questions.length === 1)}
            disabled={busy}
            choice={choices[part.question_id] ?? UNCHOSEN}
            onPick={(option) => setChoices(picked(choices, part, option))}
            onText={(text) => setChoices(worded(choices, part, text))}
          />
        ))}
        {sending.error && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p>{sending.error.message}</p>
          </div>
        )}
      </div>
      <footer>
        <div className="btns">
          <button type="button" className={may ? "btn leg" : "btn"} disabled={busy || open !== undefined} onClick={submit}>
            Answer{may && <kbd>Ctrl ↵</kbd>}
          </button>
          <button type="button" className="btn" disabled={busy} onClick={() => sending.mutate(true)}>
            Decline to answer
          </button>
          <span className="scope">{may ? `${reader(asked)} The first answer counts.` : "You can read this, not answer it. Answering needs the role operator."}</span>
        </div>
      </footer>
    </section>
  );
}

function reader({ audience, owner }: AskedQuestions): string {
  return audience === "operator" ? "Asked of whoever operates this cluster." : `Asked of ${owner}.`;
}

function Asked({ at, expires }: { at: string; expires: boolean }) {
  const now = useNow();
  return (
    <span title={fullTime(at)}>
      asked {span(secondsBetween(at, now))} ago{expires ? "," : ", no time limit"}
    </span>
  );
}

function fieldOf(card: RefObject<HTMLElement | null>, part: QuestionPart): HTMLElement | null {
  return card.current?.querySelector(`[data-question="${CSS.escape(part.question_id)}"] :is(input, textarea)`) ?? null;
}

function OptionKeys({ onPick, onAnswer }: { onPick: (digit: string) => void; onAnswer: () => void }) {
  useKeys(Object.fromEntries(DIGITS.map((digit) => [digit, () => onPick(digit)])));
  const current = useRef(onAnswer);
  useEffect(() => {
    current.current = onAnswer;
  });
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      const enters = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (enters && !event.defaultPrevented && !isField(event.target)) current.current();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
  return null;
}
