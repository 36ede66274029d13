/** Nodes with the moment at which they were last heard of. */

import type { ClusterNode } from "./types";

/** `heardAt`: milliseconds since 1970 by this browser's clock. */
export type HeardNode = ClusterNode & { heardAt: number };

/** A node as the console told of it at the moment `now`. */
export function heardOf(node: ClusterNode, now: number): HeardNode {
  return { ...node, heardAt: now - node.age_seconds * 1000 };
}
