/** What every mode makes of every tool; each cell says why. */

import type { KeyboardEvent } from "react";
import type { DecisionView, Matrix, MatrixRow, Rule } from "../api/decision-types";
import { EffectIcon } from "../design/effect-icon";
import { Glyph, Icon } from "../design/glyph";
import { scopeWords } from "../workstream/decision";
import { Breakable } from "./breakable";
import { cellOf, inEffectOrder, shownTool } from "./rows";
import type { Shown } from "./verdict";

interface MatrixViewProps {
  matrix: Matrix;
  rules: readonly Rule[];
  shown: Shown | null;
  onShown: (shown: Shown) => void;
}

export function MatrixView({ matrix, rules, shown, onShown }: MatrixViewProps) {
  const rows = inEffectOrder(matrix.rows);
  const locked = new Set(rules.filter((rule) => rule.locked).map((rule) => `${rule.scope} ${rule.pattern}`));
  const isShown = (row: MatrixRow, cell: DecisionView) =>
    shown?.tool === shownTool(row) && shown.verdict.effective_mode === cell.effective_mode;
  const known = rows.some((row) => row.cells.some((cell) => isShown(row, cell)));
  return (
    // Arrow keys walk its cells, each of which is a button.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <table className="tbl mx" onKeyDown={walk}>
      <caption className="vh">Decision of every tool in every mode</caption>
      <thead>
        <tr>
          <th scope="col" className="c-tool">
            tool
          </th>
          <th scope="col">rule</th>
          <th scope="col" className="c-scope">
            scope
          </th>
          {matrix.modes.map((mode) => (
            <th key={mode} scope="col" className="m mono">
              <Breakable name={mode} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => {
          const [first] = row.cells;
          const begins = rows[at - 1]?.effect !== row.effect;
          const name = shownTool(row);
          return (
            <tr key={name} className={begins ? "first" : undefined}>
              <th scope="row" className={row.server ? "c-mcp" : undefined}>
                <span className="eff">
                  {begins && (
                    <>
                      <EffectIcon effect={row.effect} tool={row.tool} />
                      {row.effect}
                    </>
                  )}
                </span>
                <span className={`mono tool${row.registered ? "" : " faint"}`} title={row.registered ? name : `${name}: no node has it now`}>
                  {name}
                </span>
              </th>
              <td className="id" title={first?.pattern}>
                {first?.pattern}
              </td>
              <td className="sc">
                {first && scopeWords(first.scope, first.origin).split(",")[0]}
                {first && locked.has(`${first.scope} ${first.pattern}`) && (
                  <span title="Locked: no lower scope can beat it">
                    <Icon name="lock" className="i-sm" />
                    <span className="vh">locked</span>
                  </span>
                )}
              </td>
              {matrix.modes.map((mode, column) => {
                const cell = cellOf(row, mode);
                if (!cell) return <td key={mode} className="m" />;
                const entry = known ? isShown(row, cell) : at === 0 && column === 0;
                const show = () => onShown({ tool: name, verdict: cell, registered: row.registered });
                return (
                  <td key={mode} className="m">
                    <button
                      type="button"
                      className={`cell ${cell.decision}${cell.mode_effect ? " mv" : ""}`}
                      aria-pressed={isShown(row, cell)}
                      aria-label={`${name}, ${mode}: ${cell.decision}${cell.mode_effect ? ", the mode decided" : ""}`}
                      tabIndex={entry ? 0 : -1}
                      onFocus={show}
                      onClick={show}
                    >
                      <Glyph name={cell.decision} />
                      {cell.decision}
                    </button>
                  </td>
                );
              })}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const STEPS: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function walk(event: KeyboardEvent<HTMLTableElement>): void {
  const step = STEPS[event.key];
  const cell = event.target instanceof HTMLElement ? event.target.closest("td") : null;
  if (!step || !cell) return;
  event.preventDefault();
  const table = event.currentTarget;
  const row = cell.parentElement instanceof HTMLTableRowElement ? cell.parentElement.rowIndex : 0;
  const next = table.rows[row + step[0]]?.cells[cell.cellIndex + step[1]]?.querySelector("button");
  next?.focus();
}
