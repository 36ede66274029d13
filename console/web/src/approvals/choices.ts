/** What a person has chosen so far of a request's questions. */

import type { Answer } from "../api/decision-types";
import type { QuestionPart } from "../api/types";

export interface Choice {
  options: readonly string[];
  text: string;
}

/** By question id. */
export type Choices = Readonly<Record<string, Choice>>;

export const UNCHOSEN: Choice = { options: [], text: "" };

/** The choices after an option was picked: it takes the others' place, or where several may stand it comes or goes. */
export function picked(choices: Choices, part: QuestionPart, option: string): Choices {
  const { options, text } = choices[part.question_id] ?? UNCHOSEN;
  const held = options.includes(option);
  const others = options.filter((one) => one !== option);
  const next = part.multi_select ? (held ? others : [...others, option]) : [option];
  return { ...choices, [part.question_id]: { options: next, text } };
}

/** The choices after the person wrote words of their own. */
export function worded(choices: Choices, part: QuestionPart, text: string): Choices {
  const { options } = choices[part.question_id] ?? UNCHOSEN;
  return { ...choices, [part.question_id]: { options, text } };
}

/** The first question that has no answer yet, or undefined. */
export function firstOpen(parts: readonly QuestionPart[], choices: Choices): QuestionPart | undefined {
  return parts.find((part) => {
    const { options, text } = choices[part.question_id] ?? UNCHOSEN;
    return options.length === 0 && text.trim() === "";
  });
}

/** The answers as the console takes them; options in the order in which they were offered. */
export function answersOf(parts: readonly QuestionPart[], choices: Choices): Answer[] {
  return parts.map((part) => {
    const { options, text } = choices[part.question_id] ?? UNCHOSEN;
    const offered = part.options.map((option) => option.option_id).filter((id) => options.includes(id));
    return { question_id: part.question_id, option_ids: offered, text: text.trim() };
  });
}
