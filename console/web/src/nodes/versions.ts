/** Which versions run side by side. */

import type { ClusterNode } from "../api/types";

export interface RunningVersion {
  version: string;
  nodes: string[];
}

/** The versions of the nodes that are not lost, each with who runs it. */
export function versionsOf(nodes: readonly ClusterNode[]): RunningVersion[] {
  const found = new Map<string, string[]>();
  for (const node of nodes) {
    if (node.state !== "lost") found.set(node.version, [...(found.get(node.version) ?? []), node.name]);
  }
  return [...found].map(([version, names]) => ({ version, nodes: names })).sort((a, b) => (a.version < b.version ? -1 : 1));
}

/** Names in a sentence: a, a and b, a, b and 7 more. */
export function listed(names: readonly string[]): string {
  if (names.length <= 1) return names.join("");
  if (names.length <= 4) return `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
  return `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
