/** The answer to an approval: allow so far, or deny with a word to the agent. */

import { useMutation } from "@tanstack/react-query";
import { useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from "react";
import { flushSync } from "react-dom";
import { ApiError } from "../api/client";
import { addRule, resolve } from "../api/commands";
import { queryClient } from "../api/queries";
import type { Reach, Resolution } from "../api/types";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { useKeys } from "../shell/keys";
import { AlwaysMenu } from "./always-menu";
import type { Edited } from "./edited";

const SAME_STROKE_MS = 400;
let lastStrokeAt = -Infinity;

/** A second stroke right after the first is not meant for the next card, which nobody has read yet. */
function onceAStroke(act: () => void): void {
  const now = performance.now();
  if (now - lastStrokeAt > SAME_STROKE_MS) act();
  lastStrokeAt = now;
}

export interface Asked {
  workstream: string;
  requestId: string;
  tool: string;
  /** The rule that a word for more than this call makes. */
  pattern: string;
  owner: string;
}

interface AnswerBarProps {
  asked: Asked;
  /** How far this person's word may reach; empty: they may not answer. */
  reach: readonly Reach[];
  edited: Edited;
  /** Single keys answer this one. */
  keys: boolean;
  className?: string;
  onAnswered?: () => void;
  /** What "Allow once" covers. */
  children: ReactNode;
}

type Word = { to: "once" | "workstream" | "always" | "project" | "deny" };

export function AnswerBar({ asked, reach, edited, keys, className = "", onAnswered, children }: AnswerBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const [reason, setReason] = useState("");
  const [denying, setDenying] = useState(false);
  const answering = useMutation({
    mutationFn: (word: Word) => carriedOut(asked, word, reason.trim(), edited),
    onSuccess: (_, { to }) => {
      say(saidOf(to, asked));
      onAnswered?.();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["inbox"] }),
  });
  const may = reach.length > 0;
  const busy = !may || answering.isPending || answering.isSuccess;
  const menu = `always-${asked.requestId}`;
  const give = (to: Word["to"]) => {
    if (!busy && (to === "deny" || !edited.wrong)) answering.mutate({ to });
  };
  const askWhy = () => {
    // At once: the next stroke is the word's first letter, never another answer.
    flushSync(() => setDenying(true));
    field.current?.focus();
  };
  const leave = () => {
    setDenying(false);
    field.current?.blur();
  };
  return (
    <footer className={`decide ${className}${denying ? " denying" : ""}`}>
      {keys && may && <AnswerKeys onGive={give} onDeny={askWhy} menu={menu} off={denying} />}
      {answering.error && <Refused error={answering.error} />}
      <div className="btns">
        <Allows busy={busy} may={may} edited={edited} keys={keys && may} menu={menu} onGive={give} />
        {denying && (
          <button type="button" className="btn back" onClick={leave}>
            Answer otherwise
          </button>
        )}
        <Deny busy={busy} sure={denying} keys={keys && may} onDeny={denying || reason ? () => give("deny") : askWhy} />
        {may ? (
          <WordField field={field} value={reason} disabled={busy} onChange={setReason} onEnter={() => give("deny")} onLeave={leave} />
        ) : (
          <span className="scope">You can read this, not answer it. Answering needs the role operator.</span>
        )}
      </div>
      {may && <p className="scope">{children}</p>}
      <AlwaysMenu
        id={menu}
        pattern={asked.pattern}
        owner={asked.owner}
        reach={reach}
        onUser={() => give("always")}
        onProject={() => give("project")}
      />
    </footer>
  );
}

interface DenyProps {
  busy: boolean;
  /** The word to the agent is open: now it is meant. */
  sure: boolean;
  keys: boolean;
  onDeny: () => void;
}

function Deny({ busy, sure, keys, onDeny }: DenyProps) {
  return (
    <button type="button" className="btn no" disabled={busy} onClick={onDeny}>
      {sure ? "Deny this call" : "Deny"}
      {keys && <kbd>{sure ? "↵" : "d"}</kbd>}
    </button>
  );
}

interface WordFieldProps {
  field: RefObject<HTMLInputElement | null>;
  value: string;
  disabled: boolean;
  onChange: (value: string) => void;
  onEnter: () => void;
  onLeave: () => void;
}

function WordField({ field, value, disabled, onChange, onEnter, onLeave }: WordFieldProps) {
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") onEnter();
    if (event.key === "Escape") onLeave();
  };
  return (
    <input
      ref={field}
      className="input grow"
      aria-label="A word to the agent, with the denial"
      placeholder="With a word to the agent"
      value={value}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={press}
    />
  );
}

interface AllowsProps {
  busy: boolean;
  may: boolean;
  edited: Edited;
  keys: boolean;
  menu: string;
  onGive: (to: Word["to"]) => void;
}

/** From this call to every one; what a person edited is no ground for a rule for always. */
function Allows({ busy, may, edited, keys, menu, onGive }: AllowsProps) {
  const shut = busy || edited.wrong;
  return (
    <>
      <button type="button" className={may ? "btn leg" : "btn"} disabled={shut} onClick={() => onGive("once")}>
        Allow once{keys && <kbd>a</kbd>}
      </button>
      <button type="button" className="btn" disabled={shut} onClick={() => onGive("workstream")}>
        This workstream{keys && <kbd>w</kbd>}
      </button>
      <button type="button" className="btn" disabled={shut || edited.input !== undefined} popoverTarget={menu}>
        Always{keys && <kbd>⇧A</kbd>}
      </button>
    </>
  );
}

/** The rule first: where it is refused, nothing was allowed yet. */
async function carriedOut(asked: Asked, { to }: Word, reason: string, edited: Edited): Promise<void> {
  const about: Pick<Resolution, "request_id"> = { request_id: asked.requestId };
  if (to === "deny") {
    await resolve(asked.workstream, { ...about, behavior: "deny", scope: "once", ...(reason ? { reason } : {}) });
    return;
  }
  if (to === "project") await addRule({ scope: "project", pattern: asked.pattern, decision: "allow" });
  const input = edited.input ? { updated_input: edited.input } : {};
  await resolve(asked.workstream, { ...about, behavior: "allow", scope: to === "project" ? "once" : to, ...input });
}

function saidOf(to: Word["to"], { pattern }: Asked): string {
  switch (to) {
    case "once":
      return "Allowed once by you. The workstream goes on.";
    case "workstream":
      return "Allowed by you for this workstream. It goes on.";
    case "always":
      return `Allowed always: ${pattern}. Revoke it under Permissions.`;
    case "project":
      return `Allowed in the project: ${pattern}. Remove the rule under Permissions.`;
    case "deny":
      return "Denied by you. The agent is told.";
  }
}

interface AnswerKeysProps {
  onGive: (to: Word["to"]) => void;
  onDeny: () => void;
  menu: string;
  /** The word to the agent is being written. */
  off: boolean;
}

function AnswerKeys({ onGive, onDeny, menu, off }: AnswerKeysProps) {
  const answers = {
    a: () => onceAStroke(() => onGive("once")),
    w: () => onceAStroke(() => onGive("workstream")),
    A: () => openMenu(menu),
    d: (event: Event) => {
      event.preventDefault();
      onDeny();
    },
  };
  useKeys(off ? {} : answers);
  return null;
}

/** By key, so its first choice has the focus. */
function openMenu(id: string): void {
  const button = document.querySelector<HTMLButtonElement>(`[popovertarget="${id}"]`);
  if (!button || button.disabled) return;
  button.click();
  document.getElementById(id)?.querySelector<HTMLElement>("button:enabled")?.focus();
}

function Refused({ error }: { error: Error }) {
  const answered = error instanceof ApiError && error.code === "approval_resolved";
  return (
    <div className={`notice ${answered ? "info" : "bad"}`} role="alert">
      <Glyph name={answered ? "done" : "fail"} />
      <p>
        {error.message}
        {answered && " Nothing is left to decide."}
      </p>
    </div>
  );
}
