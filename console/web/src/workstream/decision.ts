/** A call's decision in words: what was decided, by which rule or whom, after how long. */

import type { Decision } from "../api/types";
import { secondsBetween, spanExact } from "../design/format";
import type { Call } from "./conversation";

export interface Verdict {
  decision: Decision;
  /** Said beside the decision where a person had a part: by ID. */
  part: "" | "person" | "workstream";
  by: string;
}

/** What stands on the badge, or null while nothing is decided. */
export function verdictOf(call: Call): Verdict | null {
  const { decided, resolved } = call;
  if (resolved) {
    if (resolved.behavior === "cancelled") return { decision: "ask", part: "", by: resolved.by };
    const part = resolved.behavior === "allow" && resolved.scope === "workstream" ? "workstream" : "person";
    return { decision: resolved.behavior, part, by: resolved.by };
  }
  return decided ? { decision: decided.decision, part: "", by: "" } : null;
}

/** Where a rule lives, in words. The built-in tier is told by its origin: nobody else makes static rules of a session. */
export function scopeWords(scope: string, origin: string): string {
  if (scope === "session") return origin === "static" ? "built-in" : `this workstream, ${ORIGINS[origin] ?? origin}`;
  return origin === "approval" ? `${scope}, from an approval` : scope;
}

const ORIGINS: Record<string, string> = { approval: "from an approval", hook_update: "from a hook" };

const SCOPES = { once: "for this call only", workstream: "for this workstream", always: "always" } as const;

/** Who decided, how far it reaches, after how long; null where nobody was asked or has answered. */
export function answerOf(call: Call): { verb: string; by: string; rest: string; reason: string } | null {
  const { requested, resolved } = call;
  if (!resolved) return null;
  const waited = requested ? `after ${spanExact(secondsBetween(requested.at, resolved.at))}` : "";
  const { by, reason } = resolved;
  if (resolved.behavior === "cancelled") return { verb: "Withdrawn when it was stopped by", by, rest: waited, reason };
  if (resolved.behavior === "deny") return { verb: "Denied by", by, rest: waited, reason };
  return { verb: "Allowed by", by, rest: [SCOPES[resolved.scope], waited].filter(Boolean).join(", "), reason };
}
