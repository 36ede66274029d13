/** What an agent delivered: texts and kept assets, in its order. */

import type { OutputPart } from "../api/events";
import { Icon } from "../design/glyph";
import { MarkdownView } from "../design/markdown-view";
import { downloadPath, shownPath, sizeOf } from "./previews";

export function OutputView({ parts, inline }: { parts: OutputPart[]; inline: boolean }) {
  return (
    <div className="pv-output">
      {parts.map((part, at) =>
        part.type === "text" ? <MarkdownView key={at} text={part.text} /> : <Asset key={at} part={part} inline={inline} />,
      )}
    </div>
  );
}

function Asset({ part, inline }: { part: Extract<OutputPart, { type: "asset" }>; inline: boolean }) {
  const { asset_id: digest, media_type: mediaType = "", size = 0 } = part;
  const kind = mediaType.split(";", 1)[0] || "file";
  return (
    <>
      {inline && mediaType.startsWith("image/") && <img src={shownPath(digest, mediaType)} alt={`${kind}, ${sizeOf(size)}`} />}
      <a className="btn sm" href={downloadPath(digest)} download>
        <Icon name="file" />
        {kind}, {sizeOf(size)}
      </a>
    </>
  );
}
