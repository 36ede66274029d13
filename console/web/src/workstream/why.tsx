/** A decision's badge, which opens its why. */

import { digest, fullTime, initials } from "../design/format";
import { Glyph } from "../design/glyph";
import { Popover } from "../design/popover";
import { permissionsPath } from "../shell/route";
import type { Call } from "./conversation";
import { answerOf, scopeWords, verdictOf } from "./decision";

export function DecisionBadge({ call }: { call: Call }) {
  const verdict = verdictOf(call);
  if (!verdict) return null;
  const { decision, part, by } = verdict;
  const words = part === "workstream" ? "in this workstream" : part === "person" ? `by ${initials(by)}` : "";
  const id = `why-${call.id}`;
  return (
    <>
      <button
        type="button"
        className={`dec ${decision}${part ? " person" : ""}`}
        popoverTarget={id}
        aria-label={`${decision}${words ? ` ${words}` : ""}: why?`}
      >
        <Glyph name={decision} />
        {decision}{" "}
        {words && <span className="x">{words}</span>}
      </button>
      <Popover id={id} className="pop" label={`Why ${decision}`}>
        <Why call={call} />
      </Popover>
    </>
  );
}

function Why({ call: { decided, resolved, requested }, call }: { call: Call }) {
  const answer = answerOf(call);
  return (
    <>
      <p className="say">
        {answer ? (
          <>
            {answer.verb} <b>{answer.by}</b>
            {answer.rest && `, ${answer.rest}`}.{answer.reason && ` “${answer.reason}”`}
          </>
        ) : (
          decided?.why
        )}
      </p>
      <dl className="facts left">
        {decided && <RuleFacts decided={decided} answered={answer !== null} />}
        <dt>Person</dt>
        <dd>{resolved ? `${resolved.by}, ${fullTime(resolved.at)}` : requested ? "not yet" : "none was asked"}</dd>
        <Inputs call={call} />
      </dl>
      <footer>
        <a className="link" href={permissionsPath("rules")}>
          Rules in Permissions
        </a>
        {decided && <span className="faint">Audit #{decided.seq}</span>}
      </footer>
    </>
  );
}

/** The digest of what runs; where a person edited it, of what was asked too. */
function Inputs({ call: { decided, resolved, requested } }: { call: Call }) {
  const asked = requested?.input_digest ?? decided?.input_digest ?? "";
  const edited = resolved?.updated_arguments ? resolved.input_digest : "";
  const before = (edited && resolved?.original_digest) || asked;
  return (
    <>
      {edited && <Digest label="Input" value={edited} note=", as edited" />}
      {before && <Digest label={edited ? "Asked" : "Input"} value={before} />}
    </>
  );
}

function Digest({ label, value, note = "" }: { label: string; value: string; note?: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd className="mono" title={value}>
        {digest(value)}
        {note}
      </dd>
    </>
  );
}

function RuleFacts({ decided, answered }: { decided: NonNullable<Call["decided"]>; answered: boolean }) {
  const scope = decided.scope && scopeWords(decided.scope, decided.origin);
  return (
    <>
      {answered && decided.why && (
        <>
          <dt>Why</dt>
          <dd>{decided.why}</dd>
        </>
      )}
      {decided.pattern && (
        <>
          <dt>Rule</dt>
          <dd>
            <code>{decided.pattern}</code>{" "}
            <span className={`dec ${decided.base_decision}`}>
              <Glyph name={decided.base_decision} />
              {decided.base_decision}
            </span>
          </dd>
        </>
      )}
      {scope && (
        <>
          <dt>Scope</dt>
          <dd>{scope}</dd>
        </>
      )}
      <dt>Mode</dt>
      <dd>
        <span className="mono">{decided.effective_mode}</span>
        {decided.mode_effect ? `: ${decided.mode_effect}` : ", changed nothing"}
      </dd>
      <dt>Hooks</dt>
      <dd>
        {decided.hook ? (
          <>
            <span className="mono">{decided.hook}</span>
            {decided.hook_reason && `: ${decided.hook_reason}`}
          </>
        ) : (
          "none had a say"
        )}
      </dd>
    </>
  );
}
