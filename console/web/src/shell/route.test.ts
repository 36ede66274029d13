import { expect, test } from "vitest";
import { approvalsPath, parseRoute, permissionsPath, questionsPath } from "./route";

test("an address names its page", () => {
  expect(parseRoute("#/signin?code=abc")).toEqual({ page: "signin", code: "abc", next: "", ended: false });
  expect(parseRoute("#/workstreams/ws%2F1")).toEqual({ page: "workstream", id: "ws/1" });
  expect(parseRoute("#/workstreams?state=failed")).toEqual({ page: "workstreams", search: "state=failed" });
  expect(parseRoute("#/overview")).toEqual({ page: "overview" });
  expect(parseRoute("#/nodes")).toEqual({ page: "nodes", name: "" });
  expect(parseRoute("#/nodes/marsh%2F1")).toEqual({ page: "nodes", name: "marsh/1" });
  expect(parseRoute("#/mcp")).toEqual({ page: "mcp", name: "" });
  expect(parseRoute("#/mcp/tide-tables")).toEqual({ page: "mcp", name: "tide-tables" });
  expect(parseRoute("#/schedules?view=watches")).toEqual({ page: "schedules", view: "watches" });
});

test("an address that is unknown is the list", () => {
  expect(parseRoute("")).toEqual({ page: "workstreams", search: "" });
  expect(parseRoute("#/elsewhere")).toEqual({ page: "workstreams", search: "" });
});

test("a mangled link names what is not there rather than breaking the page", () => {
  expect(parseRoute("#/workstreams/%E0%A4%A")).toEqual({ page: "workstream", id: "%E0%A4%A" });
});

test("the inbox may stand at a call, of approvals or of questions", () => {
  expect(parseRoute(approvalsPath())).toEqual({ page: "approvals", view: "approvals", call: "" });
  expect(parseRoute(approvalsPath("call_1"))).toEqual({ page: "approvals", view: "approvals", call: "call_1" });
  expect(parseRoute(questionsPath("call_2"))).toEqual({ page: "approvals", view: "questions", call: "call_2" });
});

test("permissions have views", () => {
  expect(parseRoute(permissionsPath())).toEqual({ page: "permissions", view: "" });
  expect(parseRoute(permissionsPath("rules"))).toEqual({ page: "permissions", view: "rules" });
});
