/** The files that a conversation's calls read or changed. */

import { lookInside } from "./json";
import type { Call } from "./conversation";

export interface TouchedFile {
  path: string;
  /** When it was last changed; empty where it was only read. */
  changedAt: string;
  /** When it was last touched at all. */
  at: string;
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["read_file", "write_file", "edit_file"]);

/** Each file once, the one touched last first. */
export function filesOf(calls: ReadonlyMap<string, Call>): TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const call of calls.values()) {
    const path = lookInside(call.arguments)?.["path"];
    const done = call.finished;
    if (typeof path !== "string" || !done || done.is_error || !FILE_TOOLS.has(call.decided?.canonical ?? "")) continue;
    const changed = call.decided?.effect === "write" ? done.at : (files.get(path)?.changedAt ?? "");
    files.set(path, { path, changedAt: changed, at: done.at });
  }
  return [...files.values()].sort((one, other) => other.at.localeCompare(one.at));
}
