import { expect, test } from "vitest";
import type { QuestionPart } from "../api/types";
import { answersOf, firstOpen, picked, worded } from "./choices";

const option = (id: string) => ({ option_id: id, label: id.toUpperCase(), description: "" });
const ONE: QuestionPart = { question_id: "q.one", text: "Which?", options: [option("a"), option("b")], multi_select: false };
const MANY: QuestionPart = { question_id: "q.many", text: "Which ones?", options: [option("a"), option("b")], multi_select: true };

test("one option takes the other's place, unless several may stand", () => {
  expect(picked(picked({}, ONE, "a"), ONE, "b")["q.one"]?.options).toEqual(["b"]);
  const both = picked(picked({}, MANY, "b"), MANY, "a");
  expect(answersOf([MANY], both)).toEqual([{ question_id: "q.many", option_ids: ["a", "b"], text: "" }]);
  expect(picked(both, MANY, "b")["q.many"]?.options).toEqual(["a"]);
});

test("a question is open until it has an option or words", () => {
  const chosen = picked({}, ONE, "a");
  expect(firstOpen([ONE, MANY], chosen)).toBe(MANY);
  expect(firstOpen([ONE, MANY], worded(chosen, MANY, "  "))).toBe(MANY);
  expect(firstOpen([ONE, MANY], worded(chosen, MANY, "neither"))).toBeUndefined();
});

test("words of one's own go with the answer, or stand alone", () => {
  expect(answersOf([ONE], worded(picked({}, ONE, "a"), ONE, " for now "))).toEqual([
    { question_id: "q.one", option_ids: ["a"], text: "for now" },
  ]);
});
