/** Whether the open workstream's stream flows, for the status bar to say. */

import { useSyncExternalStore } from "react";

/** Since when it does not flow (milliseconds), or null where it does or none is open. */
let brokenSince: number | null = null;
const readers = new Set<() => void>();

export function setStreamLive(live: boolean): void {
  const next = live ? null : (brokenSince ?? Date.now());
  if (next === brokenSince) return;
  brokenSince = next;
  for (const reader of readers) reader();
}

export function useStreamBrokenSince(): number | null {
  return useSyncExternalStore(subscribe, () => brokenSince);
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => readers.delete(reader);
}
