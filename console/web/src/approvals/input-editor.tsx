/** Where a person changes what a call would do, before allowing it. */

import { useId } from "react";
import { Glyph } from "../design/glyph";
import type { Edited } from "./edited";

const TALLEST = 18;

export function InputEditor({ tool, edited }: { tool: string; edited: Edited }) {
  const id = useId();
  if (!edited.open) return null;
  const rows = Math.min(TALLEST, Math.max(4, edited.text.split("\n").length));
  return (
    <div className="field pad">
      <label htmlFor={id}>Input of {tool}</label>
      <textarea
        id={id}
        className="input mono"
        rows={rows}
        spellCheck={false}
        value={edited.text}
        aria-invalid={edited.wrong || undefined}
        aria-describedby={`${id}-says`}
        onChange={(event) => edited.setText(event.target.value)}
      />
      {edited.wrong ? (
        <span className="err" id={`${id}-says`} role="alert">
          <Glyph name="warn" />
          This is no JSON object. Mend it, or leave the input as the agent asked.
        </span>
      ) : (
        <span className="help" id={`${id}-says`}>
          {edited.input
            ? "It is checked and decided anew. The agent is told, and both inputs stay in the log."
            : "Nothing changed yet."}
        </span>
      )}
    </div>
  );
}

/** Opens the editor, or takes the edit back. */
export function EditButton({ edited }: { edited: Edited }) {
  return (
    <button type="button" className="btn sm quiet" aria-expanded={edited.open} onClick={edited.toggle}>
      {edited.open ? "Leave as asked" : "Edit input"}
    </button>
  );
}
