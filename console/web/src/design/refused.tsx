/** Why the console did not answer, in place of what was asked for. */

import { Glyph } from "./glyph";

interface RefusedProps {
  error: Error;
  onRetry?: () => void;
}

export function Refused({ error, onRetry }: RefusedProps) {
  return (
    <div className="body">
      <div className="notice bad" role="alert">
        <Glyph name="fail" />
        <p>{error.message}</p>
        {onRetry && (
          <button type="button" className="btn sm" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}
