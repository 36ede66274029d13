/** A unified diff taken apart into lines with their numbers and changed words. */

export interface DiffLine {
  kind: "same" | "add" | "del" | "hunk";
  before: number | null;
  after: number | null;
  text: string;
  /** The part of the text that changed within its line. */
  changed: [number, number] | null;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const ALIKE = 0.4;

/** The lines of a unified diff; file headers are left out. */
export function parseDiff(body: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 1;
  let after = 1;
  let inHunk = false;
  for (const raw of body.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(raw);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inHunk = true;
      lines.push(line("hunk", null, null, raw));
    } else if (!inHunk && /^(---|\+\+\+|diff |index )/.test(raw)) continue;
    else if (raw.startsWith("+")) lines.push(line("add", null, after++, raw.slice(1)));
    else if (raw.startsWith("-")) lines.push(line("del", before++, null, raw.slice(1)));
    else if (!raw.startsWith("\\")) lines.push(line("same", before++, after++, raw.replace(/^ /, "")));
  }
  return withChangedWords(lines);
}

function line(kind: DiffLine["kind"], before: number | null, after: number | null, text: string): DiffLine {
  return { kind, before, after, text, changed: null };
}

/** Marks, where a removed line came back changed, what changed in both. */
function withChangedWords(lines: DiffLine[]): DiffLine[] {
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.kind !== "del") continue;
    const removed = run(lines, at, "del");
    const added = run(lines, at + removed.length, "add");
    for (const gone of removed) markPair(gone, added);
    at += removed.length + added.length - 1;
  }
  return lines;
}

function run(lines: DiffLine[], from: number, kind: DiffLine["kind"]): DiffLine[] {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
}

function markPair(gone: DiffLine, added: DiffLine[]): void {
  let best: { line: DiffLine; start: number; end: number } | null = null;
  for (const candidate of added) {
    if (candidate.changed || candidate.text === gone.text) continue;
    const [start, end] = common(gone.text, candidate.text);
    const share = (start + end) / Math.max(gone.text.length, candidate.text.length, 1);
    if (share >= ALIKE && (!best || start + end > best.start + best.end)) best = { line: candidate, start, end };
  }
  if (!best) return;
  gone.changed = [best.start, gone.text.length - best.end];
  best.line.changed = [best.start, best.line.text.length - best.end];
}

/** How many characters two lines share at their start and at their end. */
function common(one: string, other: string): [number, number] {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return one.slice(0, start).trim() === "" ? [0, 0] : [start, end];
}
