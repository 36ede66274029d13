/** Makes a schedule or a watch: whose it is, when it comes due, what it says then. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type SyntheticEvent } from "react";
import { ApiError } from "../api/client";
import { createSchedule } from "../api/commands";
import { namings, queryClient, schedules } from "../api/queries";
import type { ScheduleKind } from "../api/types";
import { Dialog } from "../design/dialog";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { CadenceFields, FIELDS_OF } from "./cadence-fields";
import { blank, requestOf, type Draft } from "./draft";
import { blames, DraftField } from "./draft-field";

const KINDS: [ScheduleKind, string][] = [
  ["interval", "Interval"],
  ["cron", "Cron"],
  ["once", "Once"],
  ["watch", "Watch"],
];

export function NewDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(() => blank(Intl.DateTimeFormat().resolvedOptions().timeZone));
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const names = useQuery(namings).data;
  const workstream = draft.workstream || [...(names?.keys() ?? [])][0] || "";
  const making = useMutation({
    mutationFn: () => createSchedule(requestOf({ ...draft, workstream })),
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: schedules.queryKey });
      say(`${made.name} is scheduled`);
      onClose();
    },
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!making.isPending) making.mutate();
  };
  const refused = making.error instanceof ApiError ? making.error : null;
  const shown = ["workstream", "name", "message", ...FIELDS_OF[draft.kind]];
  return (
    <Dialog label="New schedule" onClose={onClose}>
      <form className="contents" onSubmit={submit} noValidate>
        <div className="scroll grid gap-4">
          <DraftField field="workstream" label="Workstream" refused={refused}>
            {(marks) => (
              <select
                {...marks}
                className="input"
                value={workstream}
                onChange={(event) => change({ workstream: event.target.value })}
              >
                {[...(names ?? [])].map(([id, { called }]) => (
                  <option key={id} value={id}>
                    {called}
                  </option>
                ))}
              </select>
            )}
          </DraftField>
          <DraftField field="name" label="Name" refused={refused}>
            {(marks) => (
              <input
                {...marks}
                className="input mono"
                autoComplete="off"
                value={draft.name}
                onChange={(event) => change({ name: event.target.value })}
              />
            )}
          </DraftField>
          <div className="seg justify-self-start" role="group" aria-label="Kind">
            {KINDS.map(([kind, label]) => (
              <button key={kind} type="button" aria-pressed={draft.kind === kind} onClick={() => change({ kind })}>
                {label}
              </button>
            ))}
          </div>
          <CadenceFields draft={draft} change={change} refused={refused} />
          {draft.kind !== "watch" && (
            <DraftField field="message" label="Message" help="What the agent reads when it comes due." refused={refused}>
              {(marks) => (
                <textarea
                  {...marks}
                  className="input"
                  rows={3}
                  value={draft.message}
                  onChange={(event) => change({ message: event.target.value })}
                />
              )}
            </DraftField>
          )}
          {making.error && !shown.some((field) => blames(refused, field)) && (
            <div className="notice bad" role="alert">
              <Glyph name="fail" />
              <p>{making.error.message}</p>
            </div>
          )}
        </div>
        <footer>
          <span className="grow" />
          <button type="button" className="btn quiet" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="btn ink" aria-busy={making.isPending}>
            Schedule it
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
