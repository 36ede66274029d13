import { expect, test } from "vitest";
import { parseFilter, querySearch, searchOf, withTyped } from "./filter";

test("what is typed as key and value becomes a chip, all else words", () => {
  const filter = withTyped({ chips: [], words: "" }, "state:running tide owner:ines gauge");
  expect(filter.chips).toEqual([
    { key: "state", value: "running" },
    { key: "owner", value: "ines" },
  ]);
  expect(filter.words).toBe("tide gauge");
});

test("a chip takes the place of the one with its key", () => {
  const filter = withTyped(parseFilter("state=running"), "state:failed");
  expect(filter.chips).toEqual([{ key: "state", value: "failed" }]);
});

test("an address holds the filter and gives it back", () => {
  const search = searchOf({ chips: [{ key: "label", value: "a b" }], words: "x&y" });
  expect(parseFilter(search)).toEqual({ chips: [{ key: "label", value: "a b" }], words: "x&y" });
});

test("what needs a person is asked for by what it waits for", () => {
  expect(querySearch("view=needs")).toBe("waiting_for=approval");
  expect(querySearch("state=failed")).toBe("state=failed");
});
