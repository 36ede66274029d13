/** What a cluster's stream changes in what is known of it. */

import type { Frame } from "../api/frames";
import { heardOf, type HeardNode } from "../api/heard";
import type { ClusterNode, Overview, Snapshot } from "../api/types";

export interface Known {
  overview: Overview | undefined;
  nodes: readonly HeardNode[] | undefined;
}

/** What is known after one more frame, which came at `now`. An unknown frame changes nothing. */
export function foldCluster(known: Known, frame: Frame, now: number): Known {
  const data: unknown = JSON.parse(frame.data);
  switch (frame.event) {
    case "snapshot": {
      const { overview, nodes } = data as Snapshot;
      return { overview, nodes: nodes.map((node) => heardOf(node, now)) };
    }
    case "overview":
      return { ...known, overview: data as Overview };
    case "node.joined":
    case "node.changed":
    case "node.lost":
      return { ...known, nodes: withNode(known.nodes ?? [], heardOf(data as ClusterNode, now)) };
    case "node.left":
      return { ...known, nodes: known.nodes?.filter((node) => node.id !== (data as ClusterNode).id) };
    default:
      return known;
  }
}

/** One node a name, by name: a node that was started again stands in its own place. */
function withNode(nodes: readonly HeardNode[], node: HeardNode): HeardNode[] {
  const others = nodes.filter((one) => one.name !== node.name);
  const behind = others.findIndex((one) => one.name > node.name);
  const place = behind < 0 ? others.length : behind;
  return [...others.slice(0, place), node, ...others.slice(place)];
}
