/** The modes to choose from, each with what it does; the one that holds is ticked. */

import type { Mode } from "../api/types";
import { Glyph } from "../design/glyph";
import { MODES } from "../workstreams/modes";

export function ModeChoices({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  return MODES.map((one) => (
    <button key={one.mode} type="button" aria-pressed={one.mode === mode} onClick={() => onMode(one.mode)}>
      <span>{one.mode === mode && <Glyph name="done" />}</span>
      <span className="mono">{one.mode}</span>
      <small>{one.says}</small>
    </button>
  ));
}
