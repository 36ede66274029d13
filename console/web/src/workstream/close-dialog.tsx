/** The second look before a workstream is closed. */

import { Dialog } from "../design/dialog";

interface CloseDialogProps {
  name: string;
  onCancel: () => void;
  onConfirm: () => void;
}

export function CloseDialog({ name, onCancel, onConfirm }: CloseDialogProps) {
  return (
    <Dialog label={`Close ${name}`} onClose={onCancel}>
      <div className="scroll">
        <p>A closed workstream takes no more messages, and what it does now is stopped. Its log stays; it can be forked.</p>
      </div>
      <footer>
        <span className="grow" />
        <button type="button" className="btn quiet" onClick={onCancel}>
          Keep it open
        </button>
        <button type="button" className="btn no" onClick={onConfirm}>
          Close this workstream
        </button>
      </footer>
    </Dialog>
  );
}
