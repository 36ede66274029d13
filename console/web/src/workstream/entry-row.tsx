/** An entry's place on the spine: its number, its pin, its fork. */

import type { ReactNode } from "react";
import { Icon } from "../design/glyph";

interface EntryRowProps {
  seq: number;
  /** Said instead of the number. */
  mark?: string;
  kind?: "call-e" | "card-e" | "";
  at?: boolean;
  pin: ReactNode;
  onFork?: ((seq: number) => void) | undefined;
  children: ReactNode;
}

export function EntryRow({ seq, mark, kind = "", at = false, pin, onFork, children }: EntryRowProps) {
  return (
    <li className={`ent ${kind}${at ? " show" : ""}`} id={mark ? undefined : `e${seq}`}>
      <span className={mark ? "seq faint" : "seq"}>
        {mark ?? `#${seq}`}
        {onFork && (
          <button type="button" className="fork" title={`Fork from #${seq}`} onClick={() => onFork(seq)}>
            <Icon name="fork" />
            fork<span className="vh"> from #{seq}</span>
          </button>
        )}
      </span>
      {pin}
      <div className="min-w-0">{children}</div>
    </li>
  );
}

export const DOT = <span className="pin dotpin" />;
