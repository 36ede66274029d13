/** Sums over a cluster's overview. */

import type { Overview } from "../api/types";

/** All workstreams there are, whatever their state. */
export function workstreamCount(overview: Overview): number {
  return Object.values(overview.workstreams).reduce((sum, count) => sum + count, 0);
}
