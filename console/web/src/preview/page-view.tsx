/** A web page in a frame that has no origin: still until a viewer lets it run. */

import { useState } from "react";
import { Glyph } from "../design/glyph";
import { shownPath } from "./previews";

export function PageView({ digest, title }: { digest: string; title: string }) {
  const [live, setLive] = useState(false);
  return (
    <>
      <div className={`notice pv-note ${live ? "warn" : "info"}`}>
        <Glyph name={live ? "warn" : "off"} />
        <p>{live ? "Scripts and remote loads are on. The page cannot reach Redshank." : "Scripts and remote loads are off."}</p>
        <button type="button" className="btn sm" onClick={() => setLive(!live)}>
          {live ? "Turn off" : "Turn on"}
        </button>
      </div>
      <iframe
        key={String(live)}
        className="pv-frame paper"
        title={title}
        src={shownPath(digest, "text/html", live)}
        sandbox={live ? "allow-scripts" : ""}
        referrerPolicy="no-referrer"
      />
    </>
  );
}
