import { expect, test } from "vitest";
import { factsOf } from "./record";

test("a record says only what somebody said", () => {
  const record = { name: "files", command: "npx", args: ["-y"], env: {}, cwd: "", enabled: true, required: false, questions: "refuse", enabled_tools: null };
  expect(factsOf(record)).toEqual([]);
});

test("slots stand by their names, values as they were masked, times in seconds", () => {
  const record = {
    env: { LOG: "***" },
    env_secret_refs: { TOKEN: "mcp.files.token" },
    inherit_env: false,
    required: true,
    disabled_tools: ["rm", "mv"],
    tool_timeout_sec: 120,
  };
  expect(factsOf(record)).toEqual([
    ["Environment", "LOG = ***"],
    ["Environment from slots", "TOKEN = mcp.files.token"],
    ["Inherits environment", "no"],
    ["Required", "yes"],
    ["Without these tools", "rm, mv"],
    ["Call limit", "120 s"],
  ]);
});

test("a field that is new to the page stands under its own name", () => {
  expect(factsOf({ weather: "fog" })).toEqual([["weather", "fog"]]);
});
