import { expect, test } from "vitest";
import { parseDiff } from "./diff";

const DIFF = `--- a/x.py
+++ b/x.py
@@ -10,3 +10,3 @@ def f():
 same
-value = convert(zone)
+value = convert("UTC")
--- removed rule
 end
\\ No newline at end of file
`;

test("lines keep their numbers before and after, file headers are left out", () => {
  expect(parseDiff(DIFF).map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
    ["hunk", null, null, "@@ -10,3 +10,3 @@ def f():"],
    ["same", 10, 10, "same"],
    ["del", 11, null, "value = convert(zone)"],
    ["add", null, 11, 'value = convert("UTC")'],
    ["del", 12, null, "-- removed rule"],
    ["same", 13, 12, "end"],
  ]);
});

test("where a line came back changed, the words that changed are marked in both", () => {
  const [, , gone, added] = parseDiff(DIFF);
  expect(gone?.text.slice(...(gone.changed ?? []))).toBe("zone");
  expect(added?.text.slice(...(added.changed ?? []))).toBe('"UTC"');
});

test("lines that have nothing in common are not marked", () => {
  const lines = parseDiff("@@ -1,1 +1,1 @@\n-alpha\n+omega and much more\n");
  expect(lines.map((line) => line.changed)).toEqual([null, null, null]);
});
