/** The fields that say when a schedule of each kind comes due. */

import type { HTMLInputTypeAttribute } from "react";
import type { ApiError } from "../api/client";
import type { ScheduleKind } from "../api/types";
import type { Draft } from "./draft";
import { DraftField } from "./draft-field";

interface FieldOf {
  /** As the console calls it. */
  field: string;
  key: keyof Omit<Draft, "kind">;
  label: string;
  type: HTMLInputTypeAttribute;
  help?: string;
}

const FIELDS: Record<ScheduleKind, FieldOf[]> = {
  interval: [{ field: "every_seconds", key: "everySeconds", label: "Every so many seconds", type: "number" }],
  cron: [
    { field: "expression", key: "expression", label: "Expression", type: "text", help: "minute hour day month weekday" },
    { field: "timezone", key: "timezone", label: "Zone", type: "text", help: "Such as UTC or Europe/Berlin." },
  ],
  once: [{ field: "at", key: "at", label: "At", type: "datetime-local", help: "By the clock of this browser." }],
  watch: [
    { field: "command", key: "command", label: "Command", type: "text" },
    { field: "poll_every", key: "pollEvery", label: "Run it every so many seconds", type: "number" },
    {
      field: "stop_on",
      key: "stopOn",
      label: "Fires when",
      type: "text",
      help: "Such as exit_code == 0 or \"done\" in output. Leave empty to fire when the output changes.",
    },
  ],
};

/** The names of each kind's fields, as the console blames them. */
export const FIELDS_OF = Object.fromEntries(
  Object.entries(FIELDS).map(([kind, fields]) => [kind, fields.map(({ field }) => field)]),
) as Record<ScheduleKind, string[]>;

interface CadenceFieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  refused: ApiError | null;
}

export function CadenceFields({ draft, change, refused }: CadenceFieldsProps) {
  return FIELDS[draft.kind].map(({ field, key, label, type, help }) => (
    <DraftField key={field} field={field} label={label} refused={refused} {...(help ? { help } : {})}>
      {(marks) => (
        <input
          {...marks}
          className={type === "text" ? "input mono" : "input"}
          type={type}
          autoComplete="off"
          value={draft[key]}
          onChange={(event) => change({ [key]: event.target.value })}
        />
      )}
    </DraftField>
  ));
}
