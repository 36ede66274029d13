import { expect, test } from "vitest";
import type { Rule } from "../api/decision-types";
import { policyText } from "./policy-text";

const RULE: Rule = {
  id: "rul_1",
  scope: "user",
  subject: "ines",
  pattern: "mcp__github__delete_*",
  decision: "deny",
  locked: true,
  origin: "static",
  note: 'never "delete"\nhere',
  created_by: "ines",
  created_at: "2026-11-30T12:00:00Z",
};

test("a rule is a table that a policy file can hold", () => {
  expect(policyText([RULE])).toBe(
    '[[rule]]\nscope = "user"  # ines\npattern = "mcp__github__delete_*"\ndecision = "deny"\nlocked = true\nnote = "never \\"delete\\"\\nhere"\n',
  );
});

test("no rules are an empty file", () => {
  expect(policyText([])).toBe("");
});
