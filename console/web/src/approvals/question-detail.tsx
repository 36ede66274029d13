/** One request of the inbox with its questions and the answer. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { tail } from "../api/decision-queries";
import type { QuestionItem } from "../api/decision-types";
import { clock, counted, fullTime, secondsBetween, span } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { questionsPath, workstreamPath } from "../shell/route";
import { contextOf } from "./context";
import { QuestionCard } from "./question-card";
import { answerIn } from "./question-words";
import { TaskAndWords } from "./task-and-words";

interface QuestionDetailProps {
  item: QuestionItem;
  gone: boolean;
  onAnswered: () => void;
}

export function QuestionDetail({ item, gone, onAnswered }: QuestionDetailProps) {
  const { workstream_id: workstream, asked_at: at } = item;
  const now = useNow();
  const { data: told } = useQuery(tail(workstream, gone));
  const { call, words } = useMemo(() => contextOf(told?.events ?? [], item.call_id), [told, item.call_id]);
  const asked = {
    workstream,
    owner: item.owner,
    requestId: item.request_id,
    audience: item.audience,
    questions: item.questions,
    askedAt: at,
    expiresAt: item.expires_at,
  };
  return (
    <section className="ap-detail" aria-label={`Question in ${item.workstream_name}`}>
      <header className="ap-head">
        <a className="btn quiet icon phone-only" href={questionsPath()} aria-label="Back to the list">
          <Icon name="left" />
        </a>
        <div className="grow">
          <h2>{item.questions.length === 1 ? "Question" : counted(item.questions.length, "question")}</h2>
          <div className="ap-meta">
            <a className="link mono" href={workstreamPath(workstream)}>
              {item.workstream_name}
            </a>
            <span>{item.owner}</span>
            <span title={fullTime(at)}>asked {clock(at)}</span>
            {!gone && <span className="c-leg">waits {span(secondsBetween(at, now))}</span>}
          </div>
        </div>
        <a className="btn sm wide-only" href={workstreamPath(workstream)}>
          Open<kbd>o</kbd>
        </a>
      </header>
      <div className="ap-body" tabIndex={0} role="group" aria-label="What is asked">
        <TaskAndWords task={told?.view.title ?? ""} words={words} />
        {gone ? (
          <div className="notice info" role="status">
            <Glyph name="done" />
            <p>{call?.answered ? answerIn(call.answered, item.questions) : "This is answered."} Nothing is left to decide.</p>
            <a className="btn sm" href={workstreamPath(workstream)}>
              See the answer
            </a>
          </div>
        ) : (
          <QuestionCard asked={asked} may={item.may_answer} first onAnswered={onAnswered} />
        )}
      </div>
    </section>
  );
}
