import { expect, test } from "vitest";
import type { ClusterNode, NodeReport, Overview } from "../api/types";
import { foldCluster, type Known } from "./fold";

const NOTHING: Known = { overview: undefined, nodes: undefined };

function node(name: string, state: ClusterNode["state"] = "up", id = name): ClusterNode {
  const fixed = { address: "", version: "0.1.0", started_at: "2026-01-01T00:00:00Z", report: {} as NodeReport };
  return { id, name, state, age_seconds: 2, ...fixed };
}

function told(event: string, data: object) {
  return { id: "", event, data: JSON.stringify(data) };
}

test("a snapshot is all there is", () => {
  const overview = { needs_you: 3 } as Overview;
  const known = foldCluster(NOTHING, told("snapshot", { overview, nodes: [node("a")] }), 10_000);
  expect(known.overview).toEqual(overview);
  expect(known.nodes).toEqual([{ ...node("a"), heardAt: 8_000 }]);
});

test("a node that joins stands in its place by name", () => {
  let known = foldCluster(NOTHING, told("snapshot", { overview: {}, nodes: [node("a"), node("c")] }), 0);
  known = foldCluster(known, told("node.joined", node("b")), 0);
  known = foldCluster(known, told("node.joined", node("d")), 0);
  expect(known.nodes?.map((one) => one.name)).toEqual(["a", "b", "c", "d"]);
});

test("a lost node stays, lost; its next process takes its place", () => {
  let known = foldCluster(NOTHING, told("snapshot", { overview: {}, nodes: [node("a", "up", "1")] }), 0);
  known = foldCluster(known, told("node.lost", node("a", "lost", "1")), 0);
  expect(known.nodes?.map((one) => one.state)).toEqual(["lost"]);
  known = foldCluster(known, told("node.joined", node("a", "up", "2")), 0);
  expect(known.nodes?.map((one) => [one.id, one.state])).toEqual([["2", "up"]]);
});

test("a node that left is gone, another process of its name is not", () => {
  const nodes = [node("a", "up", "1"), node("b")];
  let known = foldCluster(NOTHING, told("snapshot", { overview: {}, nodes }), 0);
  known = foldCluster(known, told("node.left", node("a", "lost", "0")), 0);
  expect(known.nodes?.map((one) => one.name)).toEqual(["a", "b"]);
  known = foldCluster(known, told("node.left", node("a", "lost", "1")), 0);
  expect(known.nodes?.map((one) => one.name)).toEqual(["b"]);
});

test("a frame that nobody knows changes nothing", () => {
  expect(foldCluster(NOTHING, told("tide", {}), 0)).toBe(NOTHING);
});
