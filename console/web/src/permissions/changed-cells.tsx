/** The cells that two policies decide apart, by tool. */

import type { CellChange, Matrix } from "../api/decision-types";
import type { Mode } from "../api/types";
import { Glyph, Icon } from "../design/glyph";
import { Badge } from "./badge";
import { Breakable } from "./breakable";
import { byTool, cellOf, MODE_ORDER, shownTool } from "./rows";

export function ChangedCells({ changes, matrix }: { changes: readonly CellChange[]; matrix: Matrix | undefined }) {
  const tools = byTool(changes);
  return (
    <div className="scroll-x" role="group" aria-label="What is decided apart" tabIndex={0}>
      <table className="tbl mx cmpt">
        <caption className="vh">What is decided apart</caption>
        <thead>
          <tr>
            <th scope="col">tool</th>
            <th scope="col">rule</th>
            {MODE_ORDER.map((mode) => (
              <th key={mode} scope="col" className="m mono">
                <Breakable name={mode} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...tools].map(([tool, cells]) => (
            <tr key={tool} className="first">
              <th scope="row">
                <span className={`mono tool${tool.startsWith("mcp__") ? " c-mcp" : ""}`}>{tool}</span>
              </th>
              <td className="id two">
                <RuleChange change={cells[0]} />
              </td>
              {MODE_ORDER.map((mode) => (
                <td key={mode} className="m">
                  <Cell change={cells.find((one) => one.mode === mode)} same={sameIn(matrix, tool, mode)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RuleChange({ change }: { change: CellChange | undefined }) {
  if (!change) return null;
  return (
    <>
      <s>
        {change.before.pattern} {change.before.base_decision}
      </s>
      <br />
      {change.after.pattern} {change.after.base_decision}
    </>
  );
}

/** Where nothing changed, what both decide. */
function sameIn(matrix: Matrix | undefined, tool: string, mode: Mode) {
  const row = matrix?.rows.find((one) => shownTool(one) === tool);
  return row && cellOf(row, mode)?.decision;
}

function Cell({ change, same }: { change: CellChange | undefined; same: ReturnType<typeof sameIn> }) {
  if (!change) {
    return (
      <span className="same">
        {same ? (
          <>
            <Glyph name={same} />
            {same}
          </>
        ) : (
          "as now"
        )}
      </span>
    );
  }
  const { before, after, wider } = change;
  return (
    <span className={`chg ${wider ? "wider" : "narrower"}`}>
      <span className={`dec ${before.decision} bare`}>{before.decision}</span>
      <Icon name={wider ? "wider" : "narrower"} className="i-sm" />
      <span className="vh">{wider ? "wider:" : "narrower:"}</span>
      <Badge decision={after.decision} />
    </span>
  );
}
