import { expect, test } from "vitest";
import { reachOf } from "./reach";

test("a viewer's word reaches nowhere", () => {
  expect(reachOf({ name: "vera", role: "viewer", scopes: ["read"] }, "vera")).toEqual([]);
  expect(reachOf(undefined, "vera")).toEqual([]);
});

test("for always is the owner's and an admin's to say", () => {
  const operator = { name: "olaf", role: "operator", scopes: ["read", "operate", "approve"] as const };
  expect(reachOf({ ...operator, scopes: [...operator.scopes] }, "ines")).toEqual(["once", "workstream"]);
  expect(reachOf({ ...operator, scopes: [...operator.scopes] }, "olaf")).toEqual(["once", "workstream", "always"]);
  expect(reachOf({ name: "ada", role: "admin", scopes: ["read", "operate", "approve", "admin"] }, "ines")).toContain("always");
});
