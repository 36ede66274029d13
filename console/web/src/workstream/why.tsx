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
  const edited = resolved?.updated_arguments ? resolved.original_digest : "";
  const digested = (edited && resolved?.input_digest) || (requested?.input_digest ?? decided?.input_digest ?? "");
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
        {digested && (
          <>
            <dt>Input</dt>
            <dd className="mono" title={digested}>
              {digest(digested)}
              {edited && ", as edited"}
            </dd>
          </>
        )}
        {edited && (
          <>
            <dt>Asked</dt>
            <dd className="mono" title={edited}>
              {digest(edited)}
            </dd>
          </>
        )}
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
