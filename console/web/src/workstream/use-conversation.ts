/** A workstream's conversation, kept up with its stream. */

import { useEffect, useState } from "react";
import type { ApiError } from "../api/client";
import { watch } from "../api/stream";
import { setStreamLive } from "../shell/liveness";
import { BLANK, type Conversation } from "./conversation";
import { foldAll, rejoined } from "./fold";

/** Pieces of text come faster than anyone reads: what comes within this time is shown together. */
const SHOW_EVERY_MS = 24;

interface Watched {
  conversation: Conversation;
  /** Why the console does not give it. */
  refused: ApiError | null;
}

/** Watches while the caller is shown; goes on without a gap after a break. */
export function useConversation(id: string): Watched {
  const [conversation, setConversation] = useState(BLANK);
  const [refused, setRefused] = useState<ApiError | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    let current = BLANK;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      timer = undefined;
      setConversation(current);
    };
    void watch(
      id,
      {
        after: () => current.seq,
        take: (events) => {
          current = foldAll(current, events);
          timer ??= setTimeout(show, SHOW_EVERY_MS);
          return !current.torn;
        },
        restart: () => {
          current = BLANK;
        },
        status: (live) => {
          if (live) current = rejoined(current);
          setStreamLive(live);
        },
        refused: setRefused,
      },
      leaving.signal,
    );
    return () => {
      leaving.abort();
      clearTimeout(timer);
      setStreamLive(true);
    };
  }, [id]);
  return { conversation, refused };
}
