/** A server's record as facts a person reads: only what somebody said. */

/** What stands elsewhere on the page, or says nothing while it is as it comes. */
const ELSEWHERE: ReadonlySet<string> = new Set(["name", "url", "command", "args"]);
const AS_IT_COMES: Record<string, unknown> = { enabled: true, required: false, questions: "refuse" };
const SECONDS: ReadonlySet<string> = new Set(["startup_timeout_sec", "tool_timeout_sec"]);

const NAMES: Record<string, string> = {
  env: "Environment",
  env_secret_refs: "Environment from slots",
  inherit_env: "Inherits environment",
  cwd: "Works in",
  sandbox: "Sandbox",
  headers: "Headers",
  env_http_headers: "Headers from variables",
  http_header_secret_refs: "Headers from slots",
  bearer_token_env_var: "Bearer from variable",
  bearer_token_secret_ref: "Bearer from slot",
  oauth_slot_ref: "OAuth slot",
  oauth_resource: "OAuth resource",
  oauth_scopes: "OAuth scopes",
  questions: "Its questions",
  enabled: "Enabled",
  required: "Required",
  enabled_tools: "Only these tools",
  disabled_tools: "Without these tools",
  plan_tools: "Usable in plan mode",
  startup_timeout_sec: "Start limit",
  tool_timeout_sec: "Call limit",
};

/** Name, then value, in the record's order. */
export function factsOf(record: Record<string, unknown>): [string, string][] {
  return Object.entries(record).flatMap(([field, value]) => {
    if (ELSEWHERE.has(field) || value === AS_IT_COMES[field] || says(value) === "") return [];
    return [[NAMES[field] ?? field, SECONDS.has(field) ? `${says(value)} s` : says(value)]];
  });
}

function says(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" || typeof value === "string") return String(value);
  if (Array.isArray(value)) return value.map(says).join(", ");
  return Object.entries(value)
    .map(([key, inner]) => `${key} = ${says(inner)}`)
    .join(", ");
}
