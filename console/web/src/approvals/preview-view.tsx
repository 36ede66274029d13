/** What a call would do, as a person reads it before deciding. */

import type { Preview } from "../api/types";
import { DiffView } from "../design/diff-view";
import { counted } from "../design/format";
import { MarkdownView } from "../design/markdown-view";

/** `plan`: the body is a plan, in Markdown. */
export function PreviewView({ preview, plan = false }: { preview: Preview; plan?: boolean }) {
  if (preview.kind === "diff" && preview.body) {
    const counts = `${counted(preview.added, "line")} added, ${preview.removed} removed`;
    return <DiffView body={preview.body} label={`Change to ${preview.title}, ${counts}`} />;
  }
  if (!preview.body) return null;
  if (plan) {
    return (
      <div className="pad plan" role="group" aria-label="The plan" tabIndex={0}>
        <MarkdownView text={preview.body} />
      </div>
    );
  }
  return (
    <div className="pad">
      <pre className="mono cmd" tabIndex={0} role="group" aria-label={`Input: ${preview.title}`}>
        {preview.kind === "json" ? pretty(preview.body) : preview.body}
      </pre>
    </div>
  );
}

/** How many lines a change adds and removes; nothing where it changes no file. */
export function ChangeCount({ preview }: { preview: Preview | undefined }) {
  if (!preview || preview.added + preview.removed === 0) return null;
  return (
    <span className="mono nowrap">
      <span className="c-moss">+{preview.added}</span> <span className="c-berry">−{preview.removed}</span>
    </span>
  );
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
