/** Who decided on a call that waits no more, and what came of it. */

import type { CallDecision } from "../api/decision-types";
import { fullTime, secondsBetween, span } from "../design/format";
import { Glyph } from "../design/glyph";
import { useNow } from "../design/now";
import { workstreamPath } from "../shell/route";
import type { Call } from "../workstream/conversation";

const REACHES = { once: "for this call", workstream: "for this workstream", always: "always" } as const;

interface SettledProps {
  decision: CallDecision | undefined;
  call: Call | undefined;
  workstream: string;
}

export function Settled({ decision, call, workstream }: SettledProps) {
  const now = useNow();
  if (!decision?.resolution) return null;
  const at = decision.resolved_at ?? decision.at;
  return (
    <div className="notice info" role="status">
      <Glyph name={decision.resolution === "allow" ? "done" : decision.resolution === "deny" ? "deny" : "closed"} />
      <p title={fullTime(at)}>
        <b>
          {decision.resolved_by ?? "Nobody"} {VERBS[decision.resolution]}
        </b>{" "}
        {decision.resolution === "allow" && `${REACHES[decision.resolution_scope ?? "once"]}, `}
        {span(secondsBetween(at, now))} ago.{decision.reason && ` “${decision.reason}”`} {outcomeOf(call)} Nothing is left to
        decide.
      </p>
      <a className="btn sm" href={workstreamPath(workstream)}>
        See the call
      </a>
    </div>
  );
}

const VERBS = { allow: "allowed this", deny: "denied this", cancelled: "withdrew this" } as const;

function outcomeOf(call: Call | undefined): string {
  const { started, finished, interrupted } = call ?? {};
  if (interrupted) return "Outcome unknown: its node stopped while it ran.";
  if (finished && started) return `It ran on ${started.node} and ended: ${finished.outcome}.`;
  return started ? `It runs on ${started.node}.` : "";
}
