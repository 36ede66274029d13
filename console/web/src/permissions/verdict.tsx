/** Why a call would be decided so, step by step. */

import type { DecisionView } from "../api/decision-types";
import { Glyph } from "../design/glyph";
import { scopeWords } from "../workstream/decision";
import { Badge } from "./badge";
import { Breakable } from "./breakable";

/** A decision on a tool in a mode; `registered`: a live node has the tool. */
export interface Shown {
  tool: string;
  verdict: DecisionView;
  registered: boolean;
}

export function Verdict({ shown }: { shown: Shown | null }) {
  return (
    <section className="verdict" aria-live="polite" aria-label="Why">
      {shown ? <Steps shown={shown} /> : <p>Choose a cell of the matrix, or check a call: here stands why.</p>}
    </section>
  );
}

function Steps({ shown: { tool, verdict, registered } }: { shown: Shown }) {
  return (
    <>
      <div className="flex flex-wrap">
        <Badge decision={verdict.decision} />
        <b>
          {tool} in {verdict.effective_mode}
        </b>
      </div>
      <p>{sentence(verdict.why)}</p>
      <ol className="steps">
        <li className={registered ? "ok" : "omit"}>
          <Glyph name={registered ? "done" : "off"} />
          <span>name</span>
          <span>
            <span className="mono">{tool}</span>
            {!registered && ", which no node has now"}
          </span>
        </li>
        <li className="hit">
          <Glyph name="up" />
          <span>rule</span>
          <span>
            {verdict.pattern ? (
              <>
                <code>{verdict.pattern}</code> {verdict.base_decision}, {scopeWords(verdict.scope, verdict.origin)}
              </>
            ) : (
              "none matches"
            )}
          </span>
        </li>
        <li className={verdict.mode_effect ? "hit" : "ok"}>
          <Glyph name={verdict.mode_effect ? "up" : "done"} />
          <span>mode</span>
          <span className={verdict.mode_effect ? "mono" : undefined}>{verdict.mode_effect ? <Breakable name={verdict.mode_effect} /> : "changed nothing"}</span>
        </li>
        <li className="omit">
          <Glyph name="off" />
          <span>hooks</span>
          <span>not run in a dry run</span>
        </li>
      </ol>
    </>
  );
}

/** The console's reason as a sentence. */
export function sentence(why: string): string {
  return why && `${why.charAt(0).toUpperCase()}${why.slice(1).replace(/\.$/, "")}.`;
}
