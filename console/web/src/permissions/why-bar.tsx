/** Why, at the foot of a phone, where the side panel is far away. */

import { Icon } from "../design/glyph";
import { Badge } from "./badge";
import { sentence, type Shown } from "./verdict";

export function WhyBar({ shown: { tool, verdict }, onClose }: { shown: Shown; onClose: () => void }) {
  return (
    <div className="why-bar" role="status">
      <p>
        <Badge decision={verdict.decision} />{" "}
        <b className="mono">
          {tool} in {verdict.effective_mode}
        </b>
        <br />
        {sentence(verdict.why)}
      </p>
      <button type="button" className="btn quiet icon" aria-label="Close why" onClick={onClose}>
        <Icon name="x" />
      </button>
    </div>
  );
}
