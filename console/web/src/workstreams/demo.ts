/** The words that the demo provider understands, one call a line. */

import type { Decision } from "../api/types";

export interface DemoCommand {
  form: string;
  does: string;
  decision: Decision | null;
  example: string;
}

export const DEMO_COMMANDS: DemoCommand[] = [
  { form: "run: COMMAND", does: "a shell command", decision: "ask", example: "run: ls -la" },
  { form: "read: PATH", does: "a file", decision: "allow", example: "read: README.md" },
  { form: "write: PATH TEXT", does: "write a file", decision: "ask", example: "write: a.txt hello" },
  { form: "search: PATTERN", does: "search below the workspace", decision: "allow", example: "search: TODO" },
  { form: "call: TOOL {json}", does: "any tool by its name", decision: null, example: 'call: list_files {"path": "."}' },
  { form: "then", does: "begins the next step", decision: null, example: "then" },
];

export const DEMO_MESSAGE = "read: README.md\nsearch: TODO\nthen\nrun: ls -la\nwrite: a.txt hello";

/** What a message would do, in a sentence; empty where it asks for no call. */
export function foretell(message: string): string {
  const steps: number[] = [0];
  const asking = new Set<string>();
  for (const line of message.split("\n").map((one) => one.trim())) {
    const word = /^(run|read|write|search|call):/.exec(line)?.[1];
    if (line === "then") steps.push(0);
    else if (word) steps[steps.length - 1] = (steps.at(-1) ?? 0) + 1;
    if (word === "run" || word === "write") asking.add(word);
  }
  const counts = steps.filter((count) => count > 0);
  const [first, ...later] = counts;
  if (!first) return "";
  const calls = `${first} call${first === 1 ? "" : "s at once"}`;
  const sentence = [calls, ...later.map(String)].join(", then ");
  return asking.size > 0 ? `${sentence}. ${[...asking].join(" and ")} will ask you.` : `${sentence}.`;
}
