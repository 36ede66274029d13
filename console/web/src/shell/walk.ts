/** Walks a list by keyboard: j and k move, Enter opens. */

import { useEffect, useState } from "react";
import { useKeys } from "./keys";

/** The id of the row that one stands at, `start` at first. A row's element has the id `row-ID`. */
export function useWalk(ids: readonly string[], open: (id: string) => void, start = ""): string {
  const [walked, setAt] = useState("");
  const at = walked || start;
  const move = (step: number) => {
    const next = ids[Math.max(0, Math.min(ids.length - 1, ids.indexOf(at) + step))];
    if (next !== undefined) setAt(next);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      if (ids.includes(at)) open(at);
    },
  });
  useEffect(() => {
    document.getElementById(`row-${walked}`)?.scrollIntoView({ block: "nearest" });
  }, [walked]);
  return at;
}
