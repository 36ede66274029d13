/** The inbox's list, oldest first. */

import type { ReactNode } from "react";
import { fullTime, secondsBetween, span } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { Expiry } from "./expiry";

export interface Row {
  call: string;
  /** A tool's name, or what is asked. */
  head: string;
  /** The head is a name. */
  mono: boolean;
  body: string;
  workstream: string;
  owner: string;
  since: string;
  expiresAt: string | null;
  gone: boolean;
  may: boolean;
  /** How it ended, in a list of what is decided. */
  ended?: { verdict: "allowed" | "denied" | "cancelled"; by: string };
}

interface InboxListProps {
  label: string;
  rows: readonly Row[];
  at: string;
  pathOf: (call: string) => string;
  /** Whose page this is. */
  self: string;
  children: ReactNode;
}

export function InboxList({ label, rows, at, pathOf, self, children }: InboxListProps) {
  return (
    <div className="ap-list">
      <ul aria-label={label}>
        {rows.map((row) => (
          <li key={row.call} id={`row-${row.call}`} className={classOf(row, at)}>
            <a href={pathOf(row.call)} aria-current={row.call === at ? "true" : undefined}>
              <span className="gl">
                <Mark row={row} />
              </span>
              <span className="t">
                <span className={`tool${row.mono ? " mono" : ""}${row.head.startsWith("mcp__") ? " c-mcp" : ""}`}>{row.head}</span>
                <Age since={row.since} />
              </span>
              <span className="s clip">{row.body}</span>
              <span className="w">
                <span className="mono clip">{row.workstream}</span>
                {!row.gone && <Expiry at={row.expiresAt} />}
                <span className="nowrap">{nameOf(row.ended?.by ?? row.owner, self)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      <div className="end-note">{children}</div>
    </div>
  );
}

function nameOf(person: string, self: string): string {
  return person === self ? "you" : person;
}

function classOf(row: Row, at: string): string {
  return [row.call === at && "at", row.gone && (row.ended ? "ended" : "gone")].filter(Boolean).join(" ");
}

const MARKS = {
  allowed: { glyph: "allow", tone: "c-moss" },
  denied: { glyph: "deny", tone: "c-berry" },
  cancelled: { glyph: "closed", tone: "faint" },
} as const;

function Mark({ row }: { row: Row }) {
  if (row.ended) {
    const { glyph, tone } = MARKS[row.ended.verdict];
    return (
      <span className={tone}>
        <Glyph name={glyph} />
        <span className="vh">{row.ended.verdict}</span>
      </span>
    );
  }
  if (row.gone) {
    return (
      <span className="c-moss">
        <Glyph name="done" />
        <span className="vh">answered</span>
      </span>
    );
  }
  if (!row.may) {
    return (
      <span className="faint">
        <Icon name="lock" className="i-sm" />
        <span className="vh">not yours to answer</span>
      </span>
    );
  }
  return (
    <span className="st st-you">
      <Glyph name="you" />
      <span className="vh">needs you</span>
    </span>
  );
}

function Age({ since }: { since: string }) {
  const now = useNow();
  return (
    <span className="age" title={fullTime(since)}>
      {span(secondsBetween(since, now))}
    </span>
  );
}
