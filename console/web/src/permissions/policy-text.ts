/** Rules as the text of a policy file. */

import type { Rule } from "../api/decision-types";

/** TOML with one table a rule, as `redshank permissions test` reads it; whose rule it is stands in a comment. */
export function policyText(rules: readonly Rule[]): string {
  return rules.map(tableOf).join("\n");
}

function tableOf({ scope, subject, pattern, decision, locked, note }: Rule): string {
  const lines = [
    "[[rule]]",
    `scope = ${quoted(scope)}  # ${subject.replace(/\s+/g, " ")}`,
    `pattern = ${quoted(pattern)}`,
    `decision = ${quoted(decision)}`,
    ...(locked ? ["locked = true"] : []),
    ...(note ? [`note = ${quoted(note)}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** A TOML basic string: JSON's is one too, but for DEL. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\u007f/g, "\\u007f");
}
