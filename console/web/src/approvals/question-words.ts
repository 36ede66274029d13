/** An answered request in words. */

import type { QuestionAnswered } from "../api/events";
import type { QuestionPart } from "../api/types";

/** Who answered what, in a sentence: `Ines answered: Both, marked A and B.` */
export function answerIn(answered: QuestionAnswered, questions: readonly QuestionPart[]): string {
  if (answered.outcome === "expired") return "Nobody answered in time.";
  if (answered.outcome === "cancelled") return `${answered.by} declined to answer.`;
  return `${answered.by} answered: ${answered.answers.map((one) => answerTo(one, questions)).join("; ")}.`;
}

/** One answer: the labels that were chosen, then the words. */
export function answerTo(
  { question_id: id, option_ids: options, text }: QuestionAnswered["answers"][number],
  questions: readonly QuestionPart[],
): string {
  const part = questions.find((one) => one.question_id === id);
  const labels = (part?.options ?? []).filter((one) => options.includes(one.option_id)).map((one) => one.label);
  return [...labels, ...(text ? [`“${text}”`] : [])].join(", ");
}
