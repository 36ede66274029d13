/** A dialog that holds focus while it is open, and gives it back. */

import { useEffect, useRef, type MouseEvent, type ReactNode } from "react";
import { Icon } from "./glyph";

interface DialogProps {
  label: string;
  className?: string;
  /** Without a header the label is read aloud only. */
  bare?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Open for as long as it is rendered. Esc, its cross and a click beside it ask to close. */
export function Dialog({ label, className = "", bare = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    element.showModal();
    return () => element.close();
  }, []);
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    const beside = (event: Event) => {
      if (event.target === element) onClose();
    };
    element.addEventListener("click", beside);
    return () => element.removeEventListener("click", beside);
  }, [onClose]);
  const cancel = (event: { preventDefault: () => void }) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} className={className} aria-label={label} onCancel={cancel}>
      {!bare && (
        <header>
          <h2>{label}</h2>
          <span className="grow" />
          <button type="button" className="btn quiet icon" aria-label="Close" onClick={(event: MouseEvent) => cancel(event)}>
            <Icon name="x" />
          </button>
        </header>
      )}
      {children}
    </dialog>
  );
}
