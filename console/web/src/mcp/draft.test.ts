import { expect, test } from "vitest";
import { blamedField, BLANK, draftOf, fieldsShown, requestOf } from "./draft";

const LIMITS = { startup_timeout_sec: 10, tool_timeout_sec: 120, required: false };

test("an address asks for its own fields, secrets by the names of their slots", () => {
  const draft = { ...BLANK, name: " tides ", url: "https://tides.example/mcp" };
  expect(requestOf(draft)).toEqual({ name: "tides", url: "https://tides.example/mcp", ...LIMITS });
  expect(requestOf({ ...draft, proof: "bearer", bearerSlot: "mcp.tides.token" })).toMatchObject({
    bearer_token_secret_ref: "mcp.tides.token",
  });
  expect(requestOf({ ...draft, proof: "header", header: "X-Key", headerSlot: "mcp.tides.key" })).toMatchObject({
    http_header_secret_refs: { "X-Key": "mcp.tides.key" },
  });
  expect(requestOf({ ...draft, proof: "oauth", scopes: "read, write" })).toMatchObject({
    oauth_slot_ref: "mcp.oauth.tides",
    oauth_scopes: ["read", "write"],
  });
});

test("a command takes one argument a line, spaces are its own", () => {
  const draft = { ...BLANK, way: "stdio" as const, name: "files", command: "npx", url: "https://left.over" };
  expect(requestOf({ ...draft, args: "-y\nserver filesystem\n\n", env: "LOG=debug=1\nEMPTY", envSlots: "TOKEN=mcp.files" })).toEqual({
    name: "files",
    command: "npx",
    args: ["-y", "server filesystem"],
    env: { LOG: "debug=1", EMPTY: "" },
    env_secret_refs: { TOKEN: "mcp.files" },
    ...LIMITS,
  });
});

test("tools are all of them, only some, or all without some", () => {
  expect(requestOf({ ...BLANK, named: "a b" })).not.toHaveProperty("enabled_tools");
  expect(requestOf({ ...BLANK, tools: "only", named: "a, b\nc" })).toMatchObject({ enabled_tools: ["a", "b", "c"] });
  expect(requestOf({ ...BLANK, tools: "without", named: "a" })).toMatchObject({ disabled_tools: ["a"] });
});

test("a refusal blames the field of the form, whatever stands inside it", () => {
  expect(blamedField("mcp.servers.a.b.env.KEY", "a.b")).toBe("env");
  expect(blamedField("mcp.servers.tides.url", "tides")).toBe("url");
  expect(blamedField("mcp.servers.tides", "tides")).toBe("name");
  expect(blamedField("name", "tides")).toBe("name");
  expect(blamedField("body.url", "tides")).toBe("url");
  expect(blamedField("args[2]", "tides")).toBe("args");
  expect(blamedField(undefined, "tides")).toBe("");
});

test("what the catalog knows of a server becomes the draft, which asks for the same again", () => {
  const record = { command: "uvx", args: ["mcp-server-git", "--repository", "."], env_secret_refs: { TOKEN: "mcp.git.token" }, sandbox: "workspace_write", startup_timeout_sec: 60 };
  const draft = draftOf({ name: "git", record });
  expect(draft).toMatchObject({ way: "stdio", args: "mcp-server-git\n--repository\n.", envSlots: "TOKEN=mcp.git.token" });
  expect(requestOf(draft)).toEqual({ name: "git", ...record, tool_timeout_sec: 120, required: false });
  const remote = { url: "https://tides.example/mcp", oauth_slot_ref: "mcp.oauth.tides", oauth_scopes: ["read"] };
  expect(requestOf(draftOf({ name: "tides", record: remote }))).toMatchObject(remote);
});

test("a refusal stands at its field only where the field is shown", () => {
  expect(fieldsShown(BLANK)).toContain("url");
  expect(fieldsShown(BLANK)).not.toContain("command");
  expect(fieldsShown({ ...BLANK, way: "stdio", proof: "bearer" })).not.toContain("bearer_token_secret_ref");
});
