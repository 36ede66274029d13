/** Adds a rule: where it lives, what it names, what it decides. */

import { useMutation } from "@tanstack/react-query";
import { useState, type SyntheticEvent } from "react";
import { ApiError } from "../api/client";
import { addRule } from "../api/commands";
import type { RuleScope } from "../api/decision-types";
import { queryClient } from "../api/queries";
import type { Decision } from "../api/types";
import { Dialog } from "../design/dialog";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { blames, DraftField } from "../schedules/draft-field";

const DECISIONS: readonly Decision[] = ["allow", "ask", "deny"];
const FIELDS = ["subject", "pattern", "locked", "note"];

export function RuleDialog({ scope: first, self, onClose }: { scope: RuleScope; self: string; onClose: () => void }) {
  const [scope, setScope] = useState(first);
  const [subject, setSubject] = useState("");
  const [pattern, setPattern] = useState("");
  const [decision, setDecision] = useState<Decision>("ask");
  const [locked, setLocked] = useState(false);
  const [note, setNote] = useState("");
  const adding = useMutation({
    mutationFn: (confirm: boolean) =>
      addRule({
        scope,
        ...(subject.trim() ? { subject: subject.trim() } : {}),
        pattern: pattern.trim(),
        decision,
        locked: locked && decision === "deny",
        note,
        ...(confirm ? { confirm } : {}),
      }),
    onSuccess: (rule) => {
      void queryClient.invalidateQueries({ queryKey: ["rules"] });
      void queryClient.invalidateQueries({ queryKey: ["matrix"] });
      say(`Added to ${rule.scope}: ${rule.pattern} ${rule.decision}. It counts from the next call on.`);
      onClose();
    },
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!adding.isPending) adding.mutate(false);
  };
  const refused = adding.error instanceof ApiError ? adding.error : null;
  const confirms = refused?.code === "confirm_needed";
  const whose = scope === "user" ? `Left empty it is yours, ${self}. * is everyone's.` : "Left empty it is the project default. * is every project.";
  return (
    <Dialog label="Add rule" onClose={onClose}>
      <form className="contents" onSubmit={submit} noValidate>
        <div className="scroll grid gap-4">
          <div className="seg justify-self-start" role="group" aria-label="Scope">
            {(["project", "user"] as const).map((one) => (
              <button key={one} type="button" aria-pressed={scope === one} onClick={() => setScope(one)}>
                {one === "project" ? "Project" : "User"}
              </button>
            ))}
          </div>
          <DraftField field="subject" label={scope === "user" ? "Whose calls" : "Which project"} help={whose} refused={refused}>
            {(marks) => <input {...marks} className="input mono" autoComplete="off" value={subject} onChange={(event) => setSubject(event.target.value)} />}
          </DraftField>
          <DraftField
            field="pattern"
            label="Tools"
            help="A name, a prefix such as mcp__github__*, an effect such as @process, or * for all."
            refused={refused}
          >
            {(marks) => (
              <input
                {...marks}
                className="input mono"
                autoComplete="off"
                spellCheck={false}
                value={pattern}
                onChange={(event) => setPattern(event.target.value)}
              />
            )}
          </DraftField>
          <div className="seg justify-self-start" role="group" aria-label="Decision">
            {DECISIONS.map((one) => (
              <button key={one} type="button" aria-pressed={decision === one} onClick={() => setDecision(one)}>
                <Glyph name={one} />
                {one}
              </button>
            ))}
          </div>
          {decision === "deny" && (
            <label className="flex">
              <input type="checkbox" className="check" checked={locked} onChange={(event) => setLocked(event.target.checked)} />
              Locked: no lower scope and no narrower rule can beat it
            </label>
          )}
          <DraftField field="note" label="Note" refused={refused}>
            {(marks) => <input {...marks} className="input" value={note} onChange={(event) => setNote(event.target.value)} />}
          </DraftField>
          {refused && (confirms || !FIELDS.some((field) => blames(refused, field))) && (
            <div className={`notice ${confirms ? "warn" : "bad"}`} role="alert">
              <Glyph name={confirms ? "warn" : "fail"} />
              <p>{confirms ? refused.message.replace(/: send confirm: true for it$/, ".") : refused.message}</p>
            </div>
          )}
        </div>
        <footer>
          <span className="grow" />
          <button type="button" className="btn quiet" onClick={onClose}>
            Leave it
          </button>
          {confirms ? (
            <button type="button" className="btn no" aria-busy={adding.isPending} onClick={() => adding.mutate(true)}>
              Add it all the same
            </button>
          ) : (
            <button type="submit" className="btn ink" aria-busy={adding.isPending}>
              Add rule
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}
