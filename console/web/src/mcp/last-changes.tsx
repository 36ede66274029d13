/** When a server last changed its state on each node, the newest first. */

import type { McpServer } from "../api/mcp-types";
import type { McpState } from "../api/types";
import { clock, fullTime } from "../design/format";
import { Glyph, type GlyphName } from "../design/glyph";
import { heardFrom } from "./standing";

const TOLD: Record<McpState, [GlyphName, string]> = {
  connected: ["up", "connected"],
  connecting: ["run", "connecting"],
  failed: ["lost", "down"],
  needs_login: ["idle", "needs a login"],
  left_out: ["off", "left out"],
  disabled: ["paused", "disabled"],
};

export function LastChanges({ server }: { server: McpServer }) {
  const heard = heardFrom(server).sort((one, other) => Date.parse(other.since) - Date.parse(one.since));
  return (
    <section className="panel" aria-labelledby="h-changes">
      <header>
        <h2 id="h-changes">Last change on each node</h2>
      </header>
      {heard.length === 0 ? (
        <p className="none">No node that is up knows it yet.</p>
      ) : (
        <ul className="rows ev">
          {heard.map(({ node, state, since, detail, calls, errors }) => {
            const [glyph, words] = TOLD[state ?? "left_out"];
            const told = detail && state !== "connected" ? `${words}, ${detail}` : words;
            return (
              <li key={node}>
                <time className="mono" dateTime={since} title={fullTime(since)}>
                  {clock(since)}
                </time>
                <span className={`st st-${glyph}`}>
                  <Glyph name={glyph} />
                </span>
                <span className="clip grow" title={told}>
                  <span className="mono">{node}</span> {told}
                </span>
                <span className="faint nowrap" title={`${errors} of ${calls} calls ended in an error`}>
                  {calls > 0 && `${errors}/${calls} errors`}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
