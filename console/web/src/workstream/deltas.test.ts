import { expect, test } from "vitest";
import { placed } from "./deltas";

test("a piece goes on where the text ends", () => {
  expect(placed("abc", 3, "de")).toBe("abcde");
});

test("what is there already is kept, what overlaps is cut", () => {
  expect(placed("abcde", 0, "abc")).toBe("abcde");
  expect(placed("abc", 2, "cde")).toBe("abcde");
});

test("a text that begins anew takes the place of the old one", () => {
  expect(placed("abc", 0, "xyz")).toBe("xyz");
});

test("a piece with text missing before it has no place", () => {
  expect(placed("abc", 4, "x")).toBeNull();
});

test("offsets count characters, not their halves", () => {
  expect(placed("a🐦b", 3, "c")).toBe("a🐦bc");
  expect(placed("🐦🐦", 1, "🐦🐦")).toBe("🐦🐦🐦");
  expect(placed("🐦", 2, "x")).toBeNull();
});
