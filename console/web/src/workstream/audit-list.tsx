/** Every decision of a workstream, the newest first: what, by which rule, by whom. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { audits } from "../api/decision-queries";
import type { Audit } from "../api/decision-types";
import { queryClient } from "../api/queries";
import { clock, fullTime } from "../design/format";
import { Glyph } from "../design/glyph";
import { scopeWords } from "./decision";

interface AuditListProps {
  id: string;
  /** The last event that is known: a newer one may bring a decision. */
  seq: number;
  onGo: (seq: number) => void;
}

export function AuditList({ id, seq, onGo }: AuditListProps) {
  const options = audits(id);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(options);
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ["audits", id] });
  }, [id, seq]);
  const found = (data?.pages.flatMap((page) => page.items) ?? []).reverse();
  return (
    <div className="prev">
      {error && !data && (
        <p className="p-3 text-sm" role="alert">
          {error.message}
        </p>
      )}
      {data && found.length === 0 && <p className="p-3 text-sm text-ink-3">No call was decided yet.</p>}
      {hasNextPage && (
        <button
          type="button"
          className="btn sm quiet m-2"
          aria-busy={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          Show newer decisions
        </button>
      )}
      <ul className="audit" aria-label="Decisions, newest first">
        {found.map((audit) => (
          <li key={audit.seq}>
            <button type="button" onClick={() => onGo(audit.seq)}>
              <Line audit={audit} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Line({ audit }: { audit: Audit }) {
  return (
    <>
      <span className="flex">
        <span className="faint mono">#{audit.seq}</span>
        <span className={`mono clip grow strong${audit.tool.startsWith("mcp__") ? " c-mcp" : ""}`}>{audit.tool}</span>
        <span className={`dec ${audit.decision}`}>
          <Glyph name={audit.decision} />
          {audit.decision}
        </span>
        <time className="faint" dateTime={audit.at} title={fullTime(audit.at)}>
          {clock(audit.at)}
        </time>
      </span>
      <span className="by">
        {audit.pattern ? (
          <>
            <code>{audit.pattern}</code> {audit.base_decision}, {scopeWords(audit.scope, audit.origin)}
          </>
        ) : (
          audit.why
        )}
        {audit.mode_effect && `, mode ${audit.effective_mode}`}
        {audit.hook && `, hook ${audit.hook}`}
      </span>
      {audit.resolution && (
        <span className="by">
          {ANSWERS[audit.resolution]} by {audit.resolved_by}
          {audit.resolution === "allow" && audit.resolution_scope !== "once" && `, ${audit.resolution_scope ?? ""}`}
          {audit.reason && `: “${audit.reason}”`}
        </span>
      )}
    </>
  );
}

const ANSWERS = { allow: "allowed", deny: "denied", cancelled: "withdrawn" } as const;
