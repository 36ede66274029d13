/** Questions that wait, in their workstream's log. */

import type { QuestionAsked } from "../api/events";
import { useMayAnswer } from "../shell/mine";
import { momentOf } from "./expiry";
import { QuestionCard } from "./question-card";

interface QuestionEntryProps {
  workstream: string;
  owner: string;
  asked: QuestionAsked;
  first: boolean;
}

export function QuestionEntry({ workstream, owner, asked, first }: QuestionEntryProps) {
  const may = useMayAnswer() ?? false;
  const card = {
    workstream,
    owner,
    requestId: asked.request_id,
    audience: asked.audience,
    questions: asked.questions,
    askedAt: asked.at,
    expiresAt: momentOf(asked.expires_at),
  };
  return <QuestionCard asked={card} may={may} first={first} />;
}
