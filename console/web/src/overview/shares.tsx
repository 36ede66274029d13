/** The workstreams that are open, as parts of a whole. */

import type { Overview } from "../api/types";
import { Glyph } from "../design/glyph";
import type { Look } from "../design/state-label";
import { listPath } from "../shell/route";

export function Shares({ overview }: { overview: Overview }) {
  const { running, waiting, failed, idle } = overview.workstreams;
  const needsYou = Math.min(overview.needs_you, waiting);
  const parts: [Look, number, string][] = [
    ["run", running, "running"],
    ["you", needsYou, "wait for you"],
    ["wait", waiting - needsYou, "wait"],
    ["fail", failed, "failed"],
    ["idle", idle, "idle"],
  ];
  const open = running + waiting + failed + idle;
  const shown = parts.filter(([, count]) => count > 0);
  return (
    <a href={listPath()} className="wide">
      <span className="l">Workstreams</span>
      <span className="f">
        {open} <small>open</small>
      </span>
      {open > 0 ? (
        <>
          <span
            className="bar"
            role="img"
            aria-label={shown.map(([, count, words]) => `${count} ${words}`).join(", ")}
          >
            {shown.map(([look, count]) => (
              <i key={look} className={look} style={{ flex: count }} />
            ))}
          </span>
          <span className="key" aria-hidden="true">
            {shown.map(([look, count]) => (
              <span key={look} className={`st st-${look}`}>
                <Glyph name={look} />
                {count}
              </span>
            ))}
          </span>
        </>
      ) : (
        <span className="d">none yet</span>
      )}
    </a>
  );
}
