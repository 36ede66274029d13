/** A call whose node stopped while it ran: nobody knows what it did, and it is not run again. */

import { useId, useState } from "react";
import type { Interrupted } from "../api/events";
import { clock, fullTime } from "../design/format";
import { Glyph } from "../design/glyph";
import { whole } from "./arguments";
import type { Call } from "./conversation";
import { DecisionBadge } from "./why";

interface InterruptedCardProps {
  call: Call;
  interrupted: Interrupted;
  onTell: (text: string) => void;
}

export function InterruptedCard({ call, interrupted, onTell }: InterruptedCardProps) {
  const [shown, setShown] = useState(false);
  const told = useId();
  const from = call.started?.at ?? interrupted.at;
  return (
    <section className="card unk" aria-label={`Interrupted call: ${call.tool}`}>
      <header>
        <span className="st st-unk">
          <Glyph name="unk" />
          outcome unknown
        </span>
        <span className="tool mono strong">{call.tool}</span>
        <DecisionBadge call={call} />
        <span className="end" title={`${fullTime(from)} to ${fullTime(interrupted.at)}`}>
          {clock(from)} to {clock(interrupted.at)}
        </span>
      </header>
      <div className="pad stack">
        <p>
          <b>Node {interrupted.node || "unknown"} stopped while this ran.</b> It may have done none, some or all of its work.
          It was not run again, and will not be unless someone asks.
        </p>
        <pre className="mono cmd" tabIndex={0} role="group" aria-label={`Input of ${call.tool}`}>
          {whole(call.arguments)}
        </pre>
        <div className="btns">
          {interrupted.output && (
            <button
              type="button"
              className="btn sm"
              aria-expanded={shown}
              aria-controls={told}
              onClick={() => setShown(!shown)}
            >
              What the agent was told
            </button>
          )}
          <button type="button" className="btn sm" onClick={() => onTell(`About the interrupted ${call.tool} call: `)}>
            Tell the agent what you know
          </button>
        </div>
        {shown && (
          <pre id={told} className="mono cmd" tabIndex={0} role="group" aria-label="What the agent was told">
            {interrupted.output}
          </pre>
        )}
      </div>
    </section>
  );
}
