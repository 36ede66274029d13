/** When a wait for a person ends by itself. */

import { fullTime, secondsBetween, span } from "../design/format";
import { useNow } from "../design/now";

/** The moment of an event's seconds since 1970, as the inbox has it. */
export function momentOf(seconds: number | null | undefined): string | null {
  return typeof seconds === "number" ? new Date(seconds * 1000).toISOString() : null;
}

/** Says nothing where it waits for ever. */
export function Expiry({ at }: { at: string | null }) {
  const now = useNow();
  if (!at) return null;
  const left = secondsBetween(new Date(now).toISOString(), at);
  return (
    <span className="c-reed nowrap" title={fullTime(at)}>
      {left > 0 ? `expires in ${span(left)}` : "expires now"}
    </span>
  );
}
