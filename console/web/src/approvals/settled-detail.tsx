/** An approval that a link leads to and that waits no more: who decided. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { decisionsOn, tail } from "../api/decision-queries";
import type { CallDecision } from "../api/decision-types";
import { Bones } from "../design/bones";
import { Icon } from "../design/glyph";
import { Refused } from "../design/refused";
import { approvalsPath, workstreamPath } from "../shell/route";
import { contextOf } from "./context";
import { ChangeCount, PreviewView } from "./preview-view";
import { Settled } from "./settled";

export function SettledDetail({ callId }: { callId: string }) {
  const { data, error } = useQuery(decisionsOn(callId));
  const decision = data?.items.findLast((one) => one.resolution !== null) ?? data?.items.at(-1);
  return (
    <section className="ap-detail" aria-label="A call that is decided">
      <header className="ap-head">
        <a className="btn quiet icon phone-only" href={approvalsPath()} aria-label="Back to the list">
          <Icon name="left" />
        </a>
        <h2 className="mono">{decision?.tool ?? callId}</h2>
      </header>
      {error && <Refused error={error} />}
      {!data && !error && <Bones />}
      {data && !decision && <p className="pm-say">No call of this id was decided here. The link may be of another cluster.</p>}
      {decision && <Found decision={decision} />}
    </section>
  );
}

function Found({ decision }: { decision: CallDecision }) {
  const { data: told } = useQuery(tail(decision.workstream, true));
  const { call } = useMemo(() => contextOf(told?.events ?? [], decision.call_id), [told, decision.call_id]);
  const asked = call?.requested?.preview;
  return (
    <div className="ap-body" tabIndex={0} role="group" aria-label="What was decided">
      {decision.resolution && <Settled decision={decision} call={call} workstream={decision.workstream} />}
      {asked && (
        <div className="card flat" role="group" aria-label="What was asked for">
          {asked.title !== asked.body && (
            <p className="pad">
              {asked.title} <ChangeCount preview={asked} />
            </p>
          )}
          <PreviewView preview={asked} />
        </div>
      )}
      {decision.resolution ? (
        <p className="muted">It asked because {decision.why}.</p>
      ) : (
        <p>
          {decision.why}.{" "}
          <a className="link" href={workstreamPath(decision.workstream)}>
            See the call
          </a>
        </p>
      )}
    </div>
  );
}
