/** A call that waits for a person: what it would do, and the answer. */

import { useMutation } from "@tanstack/react-query";
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from "react";
import { ApiError } from "../api/client";
import { resolve } from "../api/commands";
import type { Requested } from "../api/events";
import type { Effect, Resolution } from "../api/types";
import { EffectIcon } from "../design/effect-icon";
import { clock, digest, fullTime } from "../design/format";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { useKeys } from "../shell/keys";
import type { Call } from "../workstream/conversation";
import { DecisionBadge } from "../workstream/why";
import { ChangeCount, PreviewView } from "./preview-view";

const SAME_STROKE_MS = 400;
let lastStrokeAt = -Infinity;

/** A second stroke right after the first is not meant for the next card, which nobody has read yet. */
function onceAStroke(act: () => void): void {
  const now = performance.now();
  if (now - lastStrokeAt > SAME_STROKE_MS) act();
  lastStrokeAt = now;
}

interface ApprovalCardProps {
  workstream: string;
  call: Call;
  requested: Requested;
  effect: Effect;
  /** The one that single keys answer. */
  first: boolean;
}

export function ApprovalCard({ workstream, call, requested, effect, first }: ApprovalCardProps) {
  const { preview, tool, at, input_digest: inputDigest } = requested;
  const card = useRef<HTMLElement>(null);
  useFocusKept(card);
  return (
    <section ref={card} className="card need" aria-label={`Approval: ${tool} ${preview.title}`}>
      <header>
        <EffectIcon effect={effect} tool={tool} />
        <span className="tool mono strong">{tool}</span>
        <span className="mono clip" title={preview.title}>
          {preview.title}
        </span>
        <ChangeCount preview={preview} />
        <DecisionBadge call={call} />
        <span className="end" title={fullTime(at)}>
          asked {clock(at)}
        </span>
      </header>
      <PreviewView preview={preview} />
      <Answer workstream={workstream} requestId={requested.request_id} first={first}>
        <b>Allow once</b> covers exactly this input
        {inputDigest && (
          <>
            , <code title={inputDigest}>{digest(inputDigest)}</code>
          </>
        )}
        . If what it touches changes first, it is refused and asked anew.
      </Answer>
    </section>
  );
}

/** When the card goes while it has the focus, the page keeps it. */
function useFocusKept(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (element?.contains(document.activeElement)) document.getElementById("main")?.focus({ preventScroll: true });
    };
  }, [card]);
}

interface AnswerProps {
  workstream: string;
  requestId: string;
  first: boolean;
  children: ReactNode;
}

function Answer({ workstream, requestId, first, children }: AnswerProps) {
  const word = useRef<HTMLInputElement>(null);
  const [reason, setReason] = useState("");
  const [denying, setDenying] = useState(false);
  const answering = useMutation({
    mutationFn: (resolution: Resolution) => resolve(workstream, resolution),
    onSuccess: (_, { behavior, scope }) => say(SAID[behavior === "deny" ? "deny" : scope]),
  });
  const busy = answering.isPending || answering.isSuccess;
  const allow = (scope: Resolution["scope"]) => {
    if (!busy) answering.mutate({ request_id: requestId, behavior: "allow", scope });
  };
  const deny = () => {
    const stated = reason.trim();
    if (!busy) answering.mutate({ request_id: requestId, behavior: "deny", scope: "once", ...(stated ? { reason: stated } : {}) });
  };
  const askWhy = () => {
    setDenying(true);
    setTimeout(() => word.current?.focus());
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") deny();
    if (event.key === "Escape") {
      setDenying(false);
      word.current?.blur();
    }
  };
  return (
    <footer className={`decide${denying ? " denying" : ""}`}>
      {first && <AnswerKeys onAllow={allow} onDeny={askWhy} />}
      {answering.error && <Refused error={answering.error} />}
      <div className="btns">
        <button type="button" className="btn leg" disabled={busy} onClick={() => allow("once")}>
          Allow once{first && <kbd>a</kbd>}
        </button>
        <button type="button" className="btn" disabled={busy} onClick={() => allow("workstream")}>
          This workstream{first && <kbd>w</kbd>}
        </button>
        <button type="button" className="btn no" disabled={busy} onClick={denying || reason ? deny : askWhy}>
          {denying ? "Deny this call" : "Deny"}
          {first && <kbd>{denying ? "↵" : "d"}</kbd>}
        </button>
        <input
          ref={word}
          className="input grow"
          aria-label="A word to the agent, with the denial"
          placeholder="With a word to the agent"
          value={reason}
          disabled={busy}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={press}
        />
      </div>
      <p className="scope">{children}</p>
    </footer>
  );
}

const SAID = {
  once: "Allowed once by you. The workstream goes on.",
  workstream: "Allowed by you for this workstream. It goes on.",
  deny: "Denied by you. The agent is told.",
} as const;

interface AnswerKeysProps {
  onAllow: (scope: Resolution["scope"]) => void;
  onDeny: () => void;
}

function AnswerKeys({ onAllow, onDeny }: AnswerKeysProps) {
  useKeys({
    a: () => onceAStroke(() => onAllow("once")),
    w: () => onceAStroke(() => onAllow("workstream")),
    d: (event) => {
      event.preventDefault();
      onDeny();
    },
  });
  return null;
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
