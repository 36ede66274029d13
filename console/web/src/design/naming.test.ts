import { expect, test } from "vitest";
import { namingOf } from "./naming";

test("a workstream is called by its name, with what was first asked beside it", () => {
  expect(namingOf({ id: "ws_1", name: "backfill", title: "Mend October" })).toEqual({ called: "backfill", beside: "Mend October", words: false });
});

test("one without a name of its own is called by what was first asked, then by its id", () => {
  expect(namingOf({ id: "ws_1", name: "ws_1", title: "Mend October" })).toEqual({ called: "Mend October", beside: "ws_1", words: true });
  expect(namingOf({ id: "ws_1", name: "", title: "" })).toEqual({ called: "ws_1", beside: "", words: false });
});
