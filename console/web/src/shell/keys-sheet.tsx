/** All keys on one sheet, with the switch that turns single keys off. */

import { Fragment } from "react";
import { Dialog } from "../design/dialog";
import { useSingleKeys } from "./keys";

const SHEET: { where: string; keys: [string[], string][] }[] = [
  {
    where: "Everywhere",
    keys: [
      [["Ctrl", "K"], "find or do"],
      [["?"], "keys"],
      [["/"], "filter"],
      [["c"], "new workstream"],
      [["g", "o"], "overview"],
      [["g", "w"], "workstreams"],
      [["g", "a"], "approvals"],
      [["g", "p"], "permissions"],
      [["g", "m"], "MCP"],
      [["g", "s"], "schedules"],
      [["g", "n"], "nodes"],
      [["t"], "theme"],
      [["Esc"], "close a layer"],
    ],
  },
  {
    where: "Lists",
    keys: [
      [["j", "k"], "move"],
      [["Enter"], "open"],
    ],
  },
  {
    where: "Approvals",
    keys: [
      [["a"], "allow once"],
      [["w"], "allow in this workstream"],
      [["⇧", "A"], "always, choose the scope"],
      [["d"], "deny, with a word"],
      [["o"], "open the workstream"],
    ],
  },
  {
    where: "Workstream",
    keys: [
      [["Ctrl", "↵"], "send"],
      [["Ctrl", "⇧", "↵"], "steer"],
      [["Esc"], "stop while it runs"],
      [["[", "]"], "event before, after"],
      [["1", "4"], "options of a question"],
    ],
  },
];

export function KeysSheet({ onClose }: { onClose: () => void }) {
  const [singleKeys, setSingleKeys] = useSingleKeys();
  return (
    <Dialog label="Keys" className="keys" onClose={onClose}>
      <div className="scroll" tabIndex={0} role="group" aria-label="All keys">
        {SHEET.map(({ where, keys }) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {keys.map(([strokes, does]) => (
                <Fragment key={does}>
                  <dt>
                    {strokes.map((stroke) => (
                      <kbd key={stroke}>{stroke}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <footer>
        <label className="flex">
          <input
            type="checkbox"
            className="check"
            checked={singleKeys}
            onChange={(event) => setSingleKeys(event.target.checked)}
          />
          Single keys act outside fields
        </label>
      </footer>
    </Dialog>
  );
}
