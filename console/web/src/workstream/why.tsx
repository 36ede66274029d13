/** A decision's badge, which opens its why. */

import { digest, fullTime, initials } from "../design/format";
import { Glyph } from "../design/glyph";
import { Popover } from "../design/popover";
import type { Call } from "./conversation";
import { answerOf, verdictOf } from "./decision";

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
  const digested = requested?.input_digest ?? decided?.input_digest ?? "";
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
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

function RuleFacts({ decided, answered }: { decided: NonNullable<Call["decided"]>; answered: boolean }) {
  const scope = [decided.scope, decided.origin].filter((part, at, all) => part && all.indexOf(part) === at).join(", ");
  return (
    <>
      {answered && decided.why && (
        <>
          <dt>Asked</dt>
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
    </>
  );
}
