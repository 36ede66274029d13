/** What changed between two texts, as a unified diff of all their lines. */

/** Beyond this many pairs of lines the whole is told as taken out, then put in. */
const MOST_PAIRS = 250_000;

/** The lines of both, in order, as `parseDiff` reads them; empty where nothing changed. */
export function difference(before: string, after: string): string {
  if (before === after) return "";
  const [old, now] = [before.split("\n"), after.split("\n")];
  const head = alike(old, now);
  const tail = alike(old.slice(head).reverse(), now.slice(head).reverse());
  const middle = changes(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const same = (lines: string[]) => lines.map((line) => ` ${line}`);
  const hunk = `@@ -1,${old.length} +1,${now.length} @@`;
  return [hunk, ...same(old.slice(0, head)), ...middle, ...same(old.slice(old.length - tail))].join("\n");
}

/** A schema as lines, its keys in order, so that only what it means differs. */
export function schemaText(schema: unknown): string {
  return JSON.stringify(inOrder(schema), null, 2);
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}

function alike(one: string[], other: string[]): number {
  let count = 0;
  while (count < one.length && count < other.length && one[count] === other[count]) count += 1;
  return count;
}

function changes(old: string[], now: string[]): string[] {
  const all = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  if (old.length * now.length > MOST_PAIRS) return all;
  const length = longest(old, now);
  const shared = (at: number, to: number) => length[at]?.[to] ?? 0;
  const told: string[] = [];
  let [at, to] = [0, 0];
  for (const line of old) {
    while (line !== now[to] && shared(at, to + 1) > shared(at + 1, to)) told.push(`+${now[to++] ?? ""}`);
    told.push(line === now[to] ? ` ${now[to++] ?? ""}` : `-${line}`);
    at += 1;
  }
  return [...told, ...now.slice(to).map((line) => `+${line}`)];
}

/** How many lines both share in order from each place on. */
function longest(old: string[], now: string[]): Uint16Array[] {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    const [row, below] = [rows[at], rows[at + 1]];
    if (!row || !below) continue;
    for (let to = now.length - 1; to >= 0; to -= 1) {
      row[to] = old[at] === now[to] ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, row[to + 1] ?? 0);
    }
  }
  return rows;
}
