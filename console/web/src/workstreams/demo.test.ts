import { expect, test } from "vitest";
import { DEMO_MESSAGE, foretell } from "./demo";

test("the page foretells the calls of a message and which of them ask", () => {
  expect(foretell(DEMO_MESSAGE)).toBe("2 calls at once, then 2. run and write will ask you.");
  expect(foretell("read: a.txt")).toBe("1 call.");
  expect(foretell("hello")).toBe("");
});
