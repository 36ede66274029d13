/** What the agent shows, beside its conversation. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Icon } from "../design/glyph";
import type { Conversation } from "../workstream/conversation";
import "./preview.css";
import { PreviewBody } from "./preview-body";
import { downloadPath, previews, sizeOf, type OpenedPreview } from "./previews";

const WIDE_ENOUGH = "(min-width: 1121px)";

export function PreviewPane({ id, conversation }: { id: string; conversation: Conversation }) {
  const { data: found = [] } = useQuery(previews(id, openedIn(conversation)));
  const [chosen, setChosen] = useState(0);
  const [open, setOpen] = useOpen(found[0]?.seq ?? 0);
  const preview = found.find(({ seq }) => seq === chosen) ?? found[0];
  if (!preview) return null;
  if (!open) return <Strip preview={preview} count={found.length} onOpen={() => setOpen(true)} />;
  return <Pane found={found} preview={preview} onChoose={setChosen} onClose={() => setOpen(false)} />;
}

/** Opens by itself where there is room, and whenever the agent shows something more. */
function useOpen(newest: number): [boolean, (open: boolean) => void] {
  const [said, setSaid] = useState<{ open: boolean; at: number } | null>(null);
  const open = said?.at === newest ? said.open : window.matchMedia(WIDE_ENOUGH).matches;
  return [open, (next) => setSaid({ open: next, at: newest })];
}

function openedIn({ calls }: Conversation): number {
  let count = 0;
  for (const { decided, finished } of calls.values()) {
    if (decided?.canonical === "open_preview" && finished && !finished.is_error) count += 1;
  }
  return count;
}

function Strip({ preview, count, onOpen }: { preview: OpenedPreview; count: number; onOpen: () => void }) {
  return (
    <section className="pv-strip" aria-label="Preview">
      <Icon name="eye" className="i-sm" />
      <span className="clip grow">{preview.title}</span>
      {count > 1 && <span className="faint nowrap">and {count - 1} more</span>}
      <button type="button" className="btn sm" onClick={onOpen}>
        Show preview
      </button>
    </section>
  );
}

interface PaneProps {
  found: OpenedPreview[];
  preview: OpenedPreview;
  onChoose: (seq: number) => void;
  onClose: () => void;
}

function Pane({ found, preview, onChoose, onClose }: PaneProps) {
  const [wide, setWide] = useState(false);
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!window.matchMedia(WIDE_ENOUGH).matches) pane.current?.focus();
  }, []);
  return (
    <aside className="pv" aria-label="Preview" ref={pane} tabIndex={-1} {...(wide ? { "data-wide": "" } : {})}>
      <header className="pv-head">
        {found.length > 1 ? (
          <select
            className="input pv-choice"
            aria-label="Which preview"
            value={preview.seq}
            onChange={(event) => onChoose(Number(event.target.value))}
          >
            {found.map(({ seq, title }) => (
              <option key={seq} value={seq}>
                {title}
              </option>
            ))}
          </select>
        ) : (
          <h2 className="mono strong clip">{preview.title}</h2>
        )}
        <span className="faint nowrap" title={preview.source}>
          {preview.kind}, {sizeOf(preview.size)}
        </span>
        <span className="grow" />
        <a className="btn sm quiet icon" href={downloadPath(preview.digest)} download aria-label="Download">
          <Icon name="next" />
        </a>
        <button
          type="button"
          className="btn sm quiet icon pv-wide"
          aria-label={wide ? "Beside the log" : "Over the log"}
          aria-pressed={wide}
          onClick={() => setWide(!wide)}
        >
          <Icon name="open" />
        </button>
        <button type="button" className="btn sm quiet icon" aria-label="Close preview" onClick={onClose}>
          <Icon name="x" />
        </button>
      </header>
      <div className="pv-body" key={preview.seq}>
        <PreviewBody preview={preview} />
      </div>
    </aside>
  );
}
