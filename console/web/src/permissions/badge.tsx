/** A decision as shape, colour and word. */

import type { Decision } from "../api/types";
import { Glyph } from "../design/glyph";

export function Badge({ decision }: { decision: Decision }) {
  return (
    <span className={`dec ${decision}`}>
      <Glyph name={decision} />
      {decision}
    </span>
  );
}
