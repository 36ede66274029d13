import { expect, test } from "vitest";
import type { HeardNode } from "../api/heard";
import type { McpNodeAnswer, McpOnNode, McpOrder, McpServer } from "../api/mcp-types";
import { failures, inOneSentence, inTime, isEnabled, needsLogin, outcomeOf, outcomesOf, standingOn } from "./standing";

const COUNTS = { tools: 0, offered: 0, resources: 0, templates: 0, prompts: 0, calls: 0, errors: 0, hour_calls: 0, hour_errors: 0, latency_ms: null };

function on(node: string, state: McpOnNode["state"], more: Partial<McpOnNode> = {}): McpOnNode {
  return { ...COUNTS, node, node_id: node, node_state: "up", state, since: "2026-01-01T14:07:12Z", detail: "", ...more };
}

function server(...nodes: McpOnNode[]): McpServer {
  return { ...COUNTS, name: "sentry", nodes } as McpServer;
}

const UP = { name: "marsh-1", state: "up", heardAt: 0 } as HeardNode;
const LOST = { ...UP, state: "lost", heardAt: Date.parse("2026-01-01T14:07:31Z") } as HeardNode;

test("a server on a node is a shape, a word, a cause", () => {
  const stands = (status: McpOnNode | undefined) => Object.values(standingOn(UP, status)).join("|");
  expect(stands(on("marsh-1", "connected", { latency_ms: 112.4 }))).toBe("up|112 ms|");
  expect(stands(on("marsh-1", "connected"))).toBe("up|connected|");
  expect(stands(on("marsh-1", "connected", { latency_ms: 1900 }))).toBe("late|1.90 s|median of its last calls");
  expect(stands(on("marsh-1", "failed", { detail: "connection refused" }))).toBe("lost|down|connection refused");
  expect(stands(on("marsh-1", "needs_login"))).toBe("idle|waits|needs a login");
  expect(stands(on("marsh-1", null))).toBe("off|not here|");
  expect(stands(undefined)).toBe("off|not here|");
});

test("what a lost node last said is not known to be so", () => {
  expect(standingOn(LOST, on("marsh-1", "connected"))).toEqual({ glyph: "lost", words: "unknown", beside: "since 14:07:31" });
});

test("all servers stand in one sentence that names only what there is", () => {
  const well = server(on("a", "connected"), on("b", null, { node_state: "lost" }));
  const down = server(on("a", "connected"), on("b", "failed"), on("c", "needs_login"));
  expect(inOneSentence([well, well, down])).toBe("2 well, 1 down on a node");
  expect(inOneSentence([well, server(on("a", "needs_login"), on("b", "connected"))])).toBe("1 well, 1 needs a login");
  expect(inOneSentence([server(on("a", "connecting"), on("b", "connected")), server(on("a", "disabled"))])).toBe(
    "1 connecting, 1 on no node",
  );
});

test("nodes that fail alike are named together, since the first of them", () => {
  const found = failures(
    server(
      on("marsh-1", "failed", { detail: "refused", since: "2026-01-01T14:09:00Z" }),
      on("marsh-2", "connected"),
      on("marsh-3", "failed", { detail: "refused", since: "2026-01-01T14:08:00Z" }),
      on("marsh-4", "failed", { detail: "refused", node_state: "lost" }),
    ),
  );
  expect(found).toEqual([{ on: ["marsh-1", "marsh-3"], since: "2026-01-01T14:08:00Z", detail: "refused" }]);
});

test("a login is needed where a node that is heard of says so", () => {
  expect(needsLogin(server(on("marsh-1", "needs_login", { node_state: "lost" }), on("marsh-2", "connected")))).toBe(false);
  expect(needsLogin(server(on("marsh-1", "needs_login")))).toBe(true);
});

function answer(node: string, more: Partial<McpNodeAnswer> = {}): McpNodeAnswer {
  return { node, answered: true, added: [], removed: [], error: "", ...more };
}

function order(...nodes: McpNodeAnswer[]): McpOrder {
  return { server: "sentry", order: "refresh", nodes };
}

test("an order tells what is new, what is gone, who is silent; the same name once", () => {
  expect(outcomeOf(order(answer("a"), answer("b")))).toBe("sentry refreshed: nothing changed");
  expect(
    outcomeOf(
      order(
        answer("a", { added: ["x"], removed: ["p", "q", "r"] }),
        answer("b", { added: ["x"], error: "it does not answer" }),
        answer("c", { answered: false }),
      ),
    ),
  ).toBe("sentry refreshed: x added; 3 names removed; b: it does not answer; c not answered yet");
  const silent = { error: "cannot be reached" };
  expect(outcomeOf(order(answer("a", silent), answer("b", silent)))).toBe("sentry not refreshed: cannot be reached");
  expect(outcomeOf(order(answer("a", silent), answer("b", silent), answer("c")))).toBe(
    "sentry refreshed: a and b: cannot be reached",
  );
  expect(outcomeOf(order())).toBe("sentry: no node is up to be asked");
});

test("orders to all servers tell only what there is to tell", () => {
  expect(outcomesOf([order(answer("a")), order(answer("a"))])).toBe("2 servers refreshed: nothing changed");
  expect(outcomesOf([order(answer("a")), order(answer("a", { added: ["x"] }))])).toBe("sentry refreshed: x added");
});

test("a tool may be used unless the record says otherwise", () => {
  expect(isEnabled({}, "rm")).toBe(true);
  expect(isEnabled({ enabled_tools: ["ls"] }, "rm")).toBe(false);
  expect(isEnabled({ enabled_tools: ["rm"], disabled_tools: ["rm"] }, "rm")).toBe(false);
});

test("short times keep their tenth", () => {
  expect([inTime(0.42), inTime(9), inTime(11.4), inTime(1234)]).toEqual(["0.4 ms", "9 ms", "11 ms", "1.23 s"]);
});
