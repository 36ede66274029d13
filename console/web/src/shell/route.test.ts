import { expect, test } from "vitest";
import { parseRoute } from "./route";

test("an address names its page", () => {
  expect(parseRoute("#/signin?code=abc")).toEqual({ page: "signin", code: "abc", next: "" });
  expect(parseRoute("#/workstreams/ws%2F1")).toEqual({ page: "workstream", id: "ws/1" });
  expect(parseRoute("#/workstreams?state=failed")).toEqual({ page: "workstreams", search: "state=failed" });
  expect(parseRoute("#/overview")).toEqual({ page: "overview" });
  expect(parseRoute("#/nodes")).toEqual({ page: "nodes", name: "" });
  expect(parseRoute("#/nodes/marsh%2F1")).toEqual({ page: "nodes", name: "marsh/1" });
  expect(parseRoute("#/schedules?view=watches")).toEqual({ page: "schedules", view: "watches" });
});

test("an address that is unknown is the list", () => {
  expect(parseRoute("")).toEqual({ page: "workstreams", search: "" });
  expect(parseRoute("#/elsewhere")).toEqual({ page: "workstreams", search: "" });
});
