/** One preview as its kind asks for. */

import { useQuery } from "@tanstack/react-query";
import { Bones } from "../design/bones";
import { Glyph } from "../design/glyph";
import { MarkdownView } from "../design/markdown-view";
import { PageView } from "./page-view";
import { shownPath, textOf, type OpenedPreview } from "./previews";
import { TableView } from "./table-view";

export function PreviewBody({ preview }: { preview: OpenedPreview }) {
  const { kind, digest, title, media_type: mediaType } = preview;
  switch (kind) {
    case "web":
      return <PageView digest={digest} title={title} />;
    case "pdf":
      return <PdfView digest={digest} title={title} />;
    case "image":
      return (
        <div className="pv-scroll pv-image" role="group" aria-label={title} tabIndex={0}>
          <img src={shownPath(digest, mediaType)} alt={title} />
        </div>
      );
    case "table":
    case "text":
    case "markdown":
      return <TextBody preview={preview} />;
  }
}

function PdfView({ digest, title }: { digest: string; title: string }) {
  const path = `${shownPath(digest, "application/pdf")}#navpanes=0&view=FitH`;
  if (!navigator.pdfViewerEnabled) {
    return (
      <div className="notice info pv-note">
        <Glyph name="off" />
        <p>This browser shows no PDF in a page.</p>
        <a className="btn sm" href={path} target="_blank" rel="noopener">
          Open it
        </a>
      </div>
    );
  }
  return <iframe className="pv-frame" title={title} src={path} />;
}

function TextBody({ preview: { kind, digest, title, media_type: mediaType } }: { preview: OpenedPreview }) {
  const { data: text, error } = useQuery(textOf(digest));
  if (error) {
    return (
      <div className="notice bad pv-note" role="alert">
        <Glyph name="fail" />
        <p>{error.message}</p>
      </div>
    );
  }
  if (text === undefined) return <Bones />;
  if (kind === "table") return <TableView text={text} mediaType={mediaType} label={title} />;
  return (
    <div className="pv-scroll pv-text" role="group" aria-label={title} tabIndex={0}>
      {kind === "markdown" ? <MarkdownView text={text} /> : <pre>{text}</pre>}
    </div>
  );
}
