/** A matrix in the order in which people read it. */

import type { CellChange, DecisionView, MatrixRow } from "../api/decision-types";
import type { Effect, Mode } from "../api/types";

export const EFFECTS: readonly Effect[] = ["read", "write", "process", "network", "mcp", "human", "deliver", "state"];
export const MODE_ORDER: readonly Mode[] = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"];

/** A tool's name with its label, as rules name it. */
export function shownTool({ tool, label }: Pick<MatrixRow, "tool" | "label">): string {
  return label ? `${tool}:${label}` : tool;
}

/** By what the tools may touch, else as the console gave them. */
export function inEffectOrder(rows: readonly MatrixRow[]): MatrixRow[] {
  return [...rows].sort((one, other) => EFFECTS.indexOf(one.effect) - EFFECTS.indexOf(other.effect));
}

/** The cell of a mode. */
export function cellOf(row: MatrixRow, mode: Mode): DecisionView | undefined {
  return row.cells.find((cell) => cell.effective_mode === mode);
}

/** A workstream's own rules, as far as they decide on a tool of the matrix. */
export function ownRules(rows: readonly MatrixRow[]): DecisionView[] {
  const found = new Map<string, DecisionView>();
  for (const { cells } of rows) {
    for (const cell of cells) {
      if (cell.scope === "session" && cell.origin !== "static") found.set(cell.pattern, cell);
    }
  }
  return [...found.values()];
}

/** Changes by tool, in the order in which the tools came. */
export function byTool(changes: readonly CellChange[]): Map<string, CellChange[]> {
  const tools = new Map<string, CellChange[]>();
  for (const change of changes) tools.set(change.tool, [...(tools.get(change.tool) ?? []), change]);
  return tools;
}
