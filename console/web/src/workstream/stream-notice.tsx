/** Says that what stands above may be old, when the stream has been silent for a moment. */

import { clock } from "../design/format";
import { Glyph } from "../design/glyph";
import { useNow } from "../design/now";
import { useStreamBrokenSince } from "../shell/liveness";

const PATIENCE_MS = 2000;

export function StreamNotice() {
  const brokenSince = useStreamBrokenSince();
  const now = useNow();
  const shown = brokenSince !== null && now - brokenSince > PATIENCE_MS;
  return (
    <div role="status" className={shown ? "px-6 pb-2" : "vh"}>
      {shown && (
        <div className="notice warn">
          <Glyph name="late" />
          <p>
            <b>Reconnecting since {clock(new Date(brokenSince).toISOString())}.</b> Nothing is lost: it goes on from the last
            event.
          </p>
        </div>
      )}
    </div>
  );
}
