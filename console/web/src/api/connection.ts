/** Keeps a stream of server-sent events open: comes back after every break. */

import { ApiError, problemOf, reportUnauthenticated } from "./client";
import { FrameReader, type Frame } from "./frames";

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 10_000;
const SILENCE_MS = 45_000;

export interface Source {
  /** Where the stream is asked for, as things stand now. */
  request: () => { path: string; headers: Record<string, string> };
  /** Frames in order, without pings. Answers false where the connection must be opened again. */
  take: (frames: Frame[]) => boolean;
  /** Whether frames flow. */
  status: (live: boolean) => void;
  /** The stream was refused for good: it does not exist, or it is not ours. */
  refused: (error: ApiError) => void;
}

/** Stays until the signal aborts or the console refuses. Never throws. */
export async function stayConnected(source: Source, signal: AbortSignal): Promise<void> {
  const left = () => signal.aborted;
  let pause = FIRST_PAUSE_MS;
  while (!left()) {
    try {
      const heard = await follow(source, signal);
      if (heard) pause = FIRST_PAUSE_MS;
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
        source.refused(error);
        return;
      }
    }
    if (left()) return;
    source.status(false);
    await sleep(pause * (0.75 + Math.random() / 2), signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** One connection, to its end. True where at least one frame came. */
async function follow(source: Source, signal: AbortSignal): Promise<boolean> {
  const connection = new AbortController();
  const hangUp = () => connection.abort();
  signal.addEventListener("abort", hangUp);
  let silence = setTimeout(hangUp, SILENCE_MS);
  let heard = false;
  try {
    const reader = (await open(source, connection.signal)).getReader();
    source.status(true);
    const frames = new FrameReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return heard;
      clearTimeout(silence);
      silence = setTimeout(hangUp, SILENCE_MS);
      heard = true;
      const told = frames.push(value).filter((frame) => frame.event !== "ping" && frame.data !== "");
      if (told.length > 0 && !source.take(told)) return heard;
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", hangUp);
    connection.abort();
  }
}

async function open(source: Source, signal: AbortSignal): Promise<ReadableStream<string>> {
  const { path, headers } = source.request();
  const request = { headers: { Accept: "text/event-stream", ...headers }, signal };
  const response = await fetch(path, { ...request, credentials: "same-origin", cache: "no-store" });
  if (response.status === 401) reportUnauthenticated();
  if (!response.ok) throw await problemOf(response);
  if (!response.body) throw new ApiError({ status: 0, code: "unreachable", detail: "The stream has no body." });
  return response.body.pipeThrough(new TextDecoderStream());
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
