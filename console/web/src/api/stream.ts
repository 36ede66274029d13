/** A workstream's events as they happen: goes on after a break from where it was. */

import { ApiError, problemOf, reportUnauthenticated } from "./client";
import type { AnyEvent } from "./events";
import { FrameReader, type Frame } from "./frames";

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 10_000;
const SILENCE_MS = 45_000;

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
  const left = () => signal.aborted;
  let pause = FIRST_PAUSE_MS;
  while (!left()) {
    try {
      const heard = await follow(id, watcher, signal);
      if (heard) pause = FIRST_PAUSE_MS;
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
        watcher.refused(error);
        return;
      }
    }
    if (left()) return;
    watcher.status(false);
    await sleep(pause * (0.75 + Math.random() / 2), signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** One connection, to its end. True where at least one frame came. */
async function follow(id: string, watcher: Watcher, signal: AbortSignal): Promise<boolean> {
  const connection = new AbortController();
  const hangUp = () => connection.abort();
  signal.addEventListener("abort", hangUp);
  let silence = setTimeout(hangUp, SILENCE_MS);
  let heard = false;
  try {
    const reader = (await open(id, watcher.after(), connection.signal)).getReader();
    watcher.status(true);
    const frames = new FrameReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return heard;
      clearTimeout(silence);
      silence = setTimeout(hangUp, SILENCE_MS);
      heard = true;
      if (!deliver(frames.push(value), watcher)) return heard;
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", hangUp);
    connection.abort();
  }
}

async function open(id: string, after: number, signal: AbortSignal): Promise<ReadableStream<string>> {
  const headers = { Accept: "text/event-stream", ...(after > 0 ? { "Last-Event-ID": String(after) } : {}) };
  const path = `/v1/workstreams/${encodeURIComponent(id)}/events?after=${after}`;
  const response = await fetch(path, { headers, signal, credentials: "same-origin", cache: "no-store" });
  if (response.status === 401) reportUnauthenticated();
  if (!response.ok) throw await problemOf(response);
  if (!response.body) throw new ApiError({ status: 0, code: "unreachable", detail: "The stream has no body." });
  return response.body.pipeThrough(new TextDecoderStream());
}

/** False where the connection must be opened again. */
function deliver(frames: Frame[], watcher: Watcher): boolean {
  const events: AnyEvent[] = [];
  for (const frame of frames) {
    if (frame.event === "ping" || frame.data === "") continue;
    if (frame.event === "gap") {
      watcher.restart();
      return false;
    }
    events.push(JSON.parse(frame.data) as AnyEvent);
  }
  return events.length === 0 || watcher.take(events);
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resume) => {
    const timer = setTimeout(resume, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resume();
    });
  });
}
