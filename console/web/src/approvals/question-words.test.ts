import { expect, test } from "vitest";
import type { QuestionAnswered } from "../api/events";
import { answerIn } from "./question-words";

const QUESTIONS = [
  {
    question_id: "q.1",
    text: "Which?",
    multi_select: true,
    options: [
      { option_id: "a", label: "Both", description: "" },
      { option_id: "b", label: "The first", description: "" },
    ],
  },
];
const answered = (fields: Partial<QuestionAnswered>) => ({ by: "ines", outcome: "answered", answers: [], ...fields }) as unknown as QuestionAnswered;

test("an answer says who chose what, and in which words", () => {
  const answers = [{ question_id: "q.1", option_ids: ["b", "a"], text: "for now" }];
  expect(answerIn(answered({ answers }), QUESTIONS)).toBe("ines answered: Both, The first, “for now”.");
});

test("where nobody answered it says so", () => {
  expect(answerIn(answered({ outcome: "expired" }), QUESTIONS)).toBe("Nobody answered in time.");
  expect(answerIn(answered({ outcome: "cancelled" }), QUESTIONS)).toBe("ines declined to answer.");
});
