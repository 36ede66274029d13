import { expect, test } from "vitest";
import { nextOf, withPresent, type Seen, type Waiting } from "./seen";

const item = (call: string, request = "r1") => ({ call_id: call, request_id: request });
const calls = (seen: readonly Seen<Waiting>[]) => seen.map((one) => `${one.item.call_id}${one.gone ? " gone" : ""}`);

test("what was answered stays in its place, gone; what is new comes last", () => {
  const first = withPresent([], [item("a"), item("b"), item("c")]);
  const later = withPresent(first, [item("a"), item("c"), item("d")]);
  expect(calls(later)).toEqual(["a", "b gone", "c", "d"]);
  expect(withPresent(later, [item("a"), item("c"), item("d")])).toBe(later);
});

test("one that waits again is not gone", () => {
  const seen = withPresent(withPresent([], [item("a")]), []);
  expect(calls(withPresent(seen, [item("a")]))).toEqual(["a"]);
});

test("a call that is asked about anew stands there with what is asked now", () => {
  const seen = withPresent(withPresent([], [item("a")]), [item("a", "r2")]);
  expect(seen.map((one) => one.item.request_id)).toEqual(["r2"]);
});

test("after an answer the next one stands there, at the end the one before", () => {
  const seen = withPresent(withPresent([], [item("a"), item("b"), item("c")]), [item("a"), item("c")]);
  expect(nextOf(seen, "a")).toBe("c");
  expect(nextOf(seen, "c")).toBe("a");
  expect(nextOf(withPresent([], [item("a")]), "a")).toBe("");
});
