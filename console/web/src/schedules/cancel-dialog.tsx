/** The second look before a schedule is cancelled. */

import { Dialog } from "../design/dialog";

interface CancelDialogProps {
  name: string;
  onKeep: () => void;
  onCancel: () => void;
}

export function CancelDialog({ name, onKeep, onCancel }: CancelDialogProps) {
  return (
    <Dialog label={`Cancel ${name}`} onClose={onKeep}>
      <div className="scroll">
        <p>It never comes due again. What it has started goes on.</p>
      </div>
      <footer>
        <span className="grow" />
        <button type="button" className="btn quiet" onClick={onKeep}>
          Keep it
        </button>
        <button type="button" className="btn no" onClick={onCancel}>
          Cancel this schedule
        </button>
      </footer>
    </Dialog>
  );
}
