/** Says that the address names something that is not there. */

import { Glyph } from "./glyph";

export function NotHere({ what, name }: { what: string; name: string }) {
  return (
    <div className="notice warn" role="status">
      <Glyph name="warn" />
      <p>
        No {what} is called <code>{name}</code>. It may have been removed since the link was made.
      </p>
    </div>
  );
}
