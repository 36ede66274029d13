/** One field of a draft, with the reason beneath it where it is refused. */

import type { ReactNode } from "react";
import type { ApiError } from "../api/client";
import { Glyph } from "../design/glyph";

interface DraftFieldProps {
  /** As the console calls it, without what it stands in. */
  field: string;
  label: string;
  help?: string;
  refused: ApiError | null;
  /** The control, for these attributes. */
  children: (marks: Marks) => ReactNode;
}

export interface Marks {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

export function DraftField({ field, label, help = "", refused, children }: DraftFieldProps) {
  const wrong = blames(refused, field);
  const id = `draft-${field}`;
  const says = wrong || help ? `${id}-says` : undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-invalid": wrong || undefined, "aria-describedby": says })}
      {wrong ? (
        <span className="err" id={says} role="alert">
          <Glyph name="warn" />
          {refused?.message}
        </span>
      ) : (
        help && (
          <span className="help" id={says}>
            {help}
          </span>
        )
      )}
    </div>
  );
}

/** Whether a refusal blames a field; `cron.expression` blames `expression`. */
export function blames(refused: ApiError | null, field: string): boolean {
  return refused?.field?.split(".").at(-1) === field;
}
