/** Why workstreams stand still, by cause. */

import type { View, WaitKind } from "../api/types";

export interface WaitGroup {
  kind: WaitKind;
  count: number;
  /** Since when the one waits that waits longest. */
  since: string;
  /** What that one waits for, or who it is. */
  cause: string;
  /** How the bar looks: a person's part, a cause to mind, calm. */
  look: "you" | "wait" | "bad" | "calm";
}

const LOOKS: Record<WaitKind, WaitGroup["look"]> = {
  approval: "you",
  question: "you",
  budget: "you",
  child: "calm",
  wake: "calm",
  queue: "wait",
  model: "wait",
  mcp: "bad",
};

/** The causes, the most frequent first. A workstream that waits for two things counts with both. */
export function groupWaits(views: readonly View[]): WaitGroup[] {
  const groups = new Map<WaitKind, WaitGroup>();
  for (const view of views) {
    for (const { kind, since, detail } of view.waiting_for) {
      const known = groups.get(kind);
      const longest = !known || since < known.since;
      const told = detail || view.title || view.name;
      groups.set(kind, {
        kind,
        count: (known?.count ?? 0) + 1,
        since: longest ? since : known.since,
        cause: longest ? told : known.cause,
        look: LOOKS[kind],
      });
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
}
