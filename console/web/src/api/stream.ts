/** A workstream's events as they happen: goes on after a break from where it was. */

import type { ApiError } from "./client";
import { stayConnected } from "./connection";
import type { AnyEvent } from "./events";
import type { Frame } from "./frames";

export interface Watcher {
  /** The last sequence number that is known: the stream goes on after it. */
  after: () => number;
  /** Events in order. Answers false where something is missing before one of them: the stream is opened again. */
  take: (events: AnyEvent[]) => boolean;
  /** The server cannot give what lies between: everything must be read anew. */
  restart: () => void;
  /** Whether events flow; otherwise since when they do not. */
  status: (live: boolean) => void;
  /** The stream was refused for good: it does not exist, or it is not ours. */
  refused: (error: ApiError) => void;
}

/** Watches until the signal aborts or the console refuses. Never throws. */
export async function watch(id: string, watcher: Watcher, signal: AbortSignal): Promise<void> {
  const request = () => {
    const after = watcher.after();
    const headers: Record<string, string> = after > 0 ? { "Last-Event-ID": String(after) } : {};
    return { path: `/v1/workstreams/${encodeURIComponent(id)}/events?after=${after}`, headers };
  };
  const take = (frames: Frame[]) => deliver(frames, watcher);
  await stayConnected({ request, take, status: watcher.status, refused: watcher.refused }, signal);
}

/** False where the connection must be opened again. */
function deliver(frames: Frame[], watcher: Watcher): boolean {
  const events: AnyEvent[] = [];
  for (const frame of frames) {
    if (frame.event === "gap") {
      watcher.restart();
      return false;
    }
    events.push(JSON.parse(frame.data) as AnyEvent);
  }
  return watcher.take(events);
}
