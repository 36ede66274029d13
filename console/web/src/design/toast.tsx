/** A short word on what just happened, or did not. */

import { useEffect, useSyncExternalStore } from "react";
import { ApiError } from "../api/client";

const SHOWN_MS = 6000;

interface Said {
  text: string;
}

let said: Said | null = null;
const readers = new Set<() => void>();

/** Says it to the person, aloud too. */
export function say(text: string): void {
  said = { text };
  for (const reader of readers) reader();
}

/** Says why something was refused, with its mend. */
export function sayError(error: unknown): void {
  say(error instanceof ApiError ? error.message : "That did not work. The browser's console says why.");
}

export function Toast() {
  const current = useSyncExternalStore(subscribe, () => said);
  useEffect(() => {
    if (!current) return;
    const timer = setTimeout(() => {
      said = null;
      for (const reader of readers) reader();
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [current]);
  return (
    <div role="status" className={current ? "toast" : "vh"}>
      {current?.text}
    </div>
  );
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => readers.delete(reader);
}
