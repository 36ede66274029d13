import { expect, test } from "vitest";
import type { ClusterNode, NodeReport } from "../api/types";
import { listed, versionsOf } from "./versions";

function node(name: string, version: string, state: ClusterNode["state"] = "up"): ClusterNode {
  return { id: name, name, version, state, address: "", started_at: "", age_seconds: 0, report: {} as NodeReport };
}

test("each version names who runs it; a lost node runs nothing", () => {
  const nodes = [node("a", "0.9.2"), node("b", "0.9.3"), node("c", "0.9.2"), node("d", "0.9.1", "lost")];
  expect(versionsOf(nodes)).toEqual([
    { version: "0.9.2", nodes: ["a", "c"] },
    { version: "0.9.3", nodes: ["b"] },
  ]);
});

test("names stand in a sentence, many of them cut short", () => {
  expect(listed(["a"])).toBe("a");
  expect(listed(["a", "b", "c"])).toBe("a, b and c");
  expect(listed(["a", "b", "c", "d", "e"])).toBe("a, b, c and 2 more");
});
