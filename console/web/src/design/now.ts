/** The page's clock: the moment, renewed every second for whoever shows it. */

import { useSyncExternalStore } from "react";

let now = Date.now();
const readers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Milliseconds since 1970 of this second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  if (!timer) timer = setInterval(tick, 1000);
  return () => {
    readers.delete(reader);
    if (readers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

function tick(): void {
  now = Date.now();
  for (const reader of readers) reader();
}
