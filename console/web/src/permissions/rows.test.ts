import { expect, test } from "vitest";
import type { CellChange, DecisionView, MatrixRow } from "../api/decision-types";
import { byTool, inEffectOrder, ownRules, shownTool } from "./rows";

const cell = (fields: Partial<DecisionView>): DecisionView => ({
  decision: "ask",
  base_decision: "ask",
  effective_mode: "default",
  mode_effect: null,
  pattern: "*",
  scope: "session",
  origin: "static",
  why: "",
  ...fields,
});
const row = (tool: string, effect: MatrixRow["effect"], cells: DecisionView[] = []): MatrixRow => ({
  tool, label: "", canonical: tool, effect, server: "", registered: true, cells,
});

test("tools stand by what they may touch, reading first", () => {
  const rows = [row("bash", "process"), row("read_file", "read"), row("exec", "process"), row("edit_file", "write")];
  expect(inEffectOrder(rows).map(shownTool)).toEqual(["read_file", "edit_file", "bash", "exec"]);
});

test("a label stands behind its tool", () => {
  expect(shownTool({ tool: "watch", label: "create" })).toBe("watch:create");
});

test("a workstream's own rules are told from the built-in ones by their origin", () => {
  const granted = cell({ pattern: "bash", origin: "approval" });
  expect(ownRules([row("bash", "process", [granted, granted]), row("exec", "process", [cell({ pattern: "exec" })])])).toEqual([granted]);
});

test("changes stand together by tool", () => {
  const change = (tool: string) => ({ tool }) as CellChange;
  expect([...byTool([change("a"), change("b"), change("a")])].map(([tool, all]) => [tool, all.length])).toEqual([["a", 2], ["b", 1]]);
});
