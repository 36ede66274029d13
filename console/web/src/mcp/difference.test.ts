import { expect, test } from "vitest";
import { parseDiff } from "../design/diff";
import { difference, schemaText } from "./difference";

const kinds = (body: string) => parseDiff(body).map(({ kind, text }) => `${kind} ${text}`);

test("texts that are alike differ in nothing", () => {
  expect(difference("a\nb", "a\nb")).toBe("");
});

test("what was taken out stands before what was put in, the rest between them", () => {
  expect(kinds(difference("a\nb\nc\nd", "a\nx\nc\ny\nd")).slice(1)).toEqual([
    "same a",
    "del b",
    "add x",
    "same c",
    "add y",
    "same d",
  ]);
});

test("a text in place of none is put in", () => {
  expect(kinds(difference("", "new")).slice(1)).toEqual(["del ", "add new"]);
});

test("texts too long to compare are told whole", () => {
  const many = (word: string) => Array.from({ length: 600 }, (_, at) => `${word} ${at}`).join("\n");
  const told = kinds(difference(many("old"), many("new"))).slice(1);
  expect(told.filter((line) => line.startsWith("del"))).toHaveLength(600);
  expect(told.filter((line) => line.startsWith("add"))).toHaveLength(600);
});

test("a schema reads the same whatever the order of its keys", () => {
  expect(schemaText({ type: "object", properties: { b: 1, a: [{ d: 1, c: 2 }] } })).toBe(
    schemaText({ properties: { a: [{ c: 2, d: 1 }], b: 1 }, type: "object" }),
  );
});
