/** The inbox: what waits for a person, oldest first, with the answer beside it. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { decided, waitingCounts } from "../api/decision-queries";
import { me } from "../api/queries";
import { Bones } from "../design/bones";
import { Refused } from "../design/refused";
import { useKeys } from "../shell/keys";
import { approvalsPath, decidedPath, go, questionsPath, stand, usePage, workstreamPath } from "../shell/route";
import { ApprovalDetail } from "./approval-detail";
import { titleOf } from "./covers";
import { InboxList, type Row } from "./inbox-list";
import { QuestionDetail } from "./question-detail";
import { QuestionGone } from "./question-gone";
import { nextOf, type Waiting } from "./seen";
import { SettledDetail } from "./settled-detail";
import { useApprovals, useQuestions, type Inbox } from "./use-inbox";

export function ApprovalsPage({ view, call }: { view: "approvals" | "questions" | "decided"; call: string }) {
  const { data: counts } = useQuery(waitingCounts);
  usePage("approvals", TITLES[view]);
  useEffect(() => {
    document.body.classList.toggle("detail-open", call !== "");
    return () => document.body.classList.remove("detail-open");
  }, [call]);
  return (
    <>
      <header className="top">
        <h1>Approvals</h1>
        <nav className="tabs self-end" aria-label="What waits for a person">
          <Tab to={approvalsPath()} here={view === "approvals"} name="Approvals" count={counts?.approvals} />
          <Tab to={questionsPath()} here={view === "questions"} name="Questions" count={counts?.questions} />
          <Tab to={decidedPath()} here={view === "decided"} name="Decided" count={undefined} />
        </nav>
        <div className="acts">
          <span className="flex keys faint wide-only">
            <kbd>j</kbd>
            <kbd>k</kbd> move
            {view === "approvals" && (
              <>
                <kbd>a</kbd> allow <kbd>d</kbd> deny
              </>
            )}
            <kbd>o</kbd> open
          </span>
        </div>
      </header>
      {view === "approvals" && <Approvals call={call} />}
      {view === "questions" && <Questions call={call} />}
      {view === "decided" && <Decided call={call} />}
    </>
  );
}

const TITLES = { approvals: "Approvals", questions: "Questions", decided: "Decided" } as const;

function Tab({ to, here, name, count }: { to: string; here: boolean; name: string; count: number | undefined }) {
  return (
    <a href={to} aria-current={here ? "page" : undefined}>
      {name}
      {count !== undefined && <span className="n">{count}</span>}
    </a>
  );
}

function Approvals({ call }: { call: string }) {
  const box = useApprovals();
  const at = useStanding(callOf(box.seen, call), firstOf(box.seen));
  const shown = box.seen.find((one) => one.item.call_id === at);
  const rows = box.seen.map(({ item, gone }): Row => ({
    call: item.call_id,
    head: item.tool,
    mono: true,
    body: titleOf(item.tool, item.preview.title),
    workstream: item.workstream_name,
    owner: item.owner,
    since: item.requested_at,
    expiresAt: item.expires_at,
    gone,
    may: item.may_answer.length > 0,
  }));
  const next = () => stand(approvalsPath(nextOf(box.seen, at)));
  return (
    <Frame box={box} rows={rows} at={at} pathOf={approvalsPath} open={shown?.item.workstream_id} linked={call} nothing="No call waits for approval.">
      {shown && <ApprovalDetail key={shown.item.request_id} item={shown.item} gone={shown.gone} onAnswered={next} />}
      {!shown && call && box.total !== undefined && <SettledDetail callId={call} />}
    </Frame>
  );
}

function Questions({ call }: { call: string }) {
  const box = useQuestions();
  const at = useStanding(callOf(box.seen, call), firstOf(box.seen));
  const shown = box.seen.find((one) => one.item.call_id === at);
  const rows = box.seen.map(({ item, gone }): Row => ({
    call: item.call_id,
    head: item.text,
    mono: false,
    body: item.questions.length > 1 ? `and ${item.questions.length - 1} more` : optionsOf(item.questions),
    workstream: item.workstream_name,
    owner: item.owner,
    since: item.asked_at,
    expiresAt: item.expires_at,
    gone,
    may: item.may_answer,
  }));
  const next = () => stand(questionsPath(nextOf(box.seen, at)));
  return (
    <Frame box={box} rows={rows} at={at} pathOf={questionsPath} open={shown?.item.workstream_id} linked={call} nothing="No agent asks anything.">
      {shown && <QuestionDetail key={shown.item.request_id} item={shown.item} gone={shown.gone} onAnswered={next} />}
      {!shown && call && box.total !== undefined && <QuestionGone />}
    </Frame>
  );
}

function Decided({ call }: { call: string }) {
  const query = useInfiniteQuery(decided);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const at = useStanding(call, items[0]?.call_id ?? "");
  const rows = items.map((item): Row => ({
    call: item.call_id,
    head: item.tool,
    mono: true,
    body: titleOf(item.tool, item.title),
    workstream: item.workstream_name,
    owner: item.owner,
    since: item.resolved_at,
    expiresAt: null,
    gone: true,
    may: false,
    ended: { verdict: item.state, by: item.resolved_by },
  }));
  const box = {
    total: query.data?.pages[0]?.total,
    error: query.error,
    retry: () => void query.refetch(),
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
  };
  const open = items.find((item) => item.call_id === at)?.workstream_id;
  return (
    <Frame box={box} rows={rows} at={at} pathOf={decidedPath} open={open} linked={call} order="Decided last first" nothing="Nobody has decided on a call yet.">
      {at && <SettledDetail key={at} callId={at} />}
    </Frame>
  );
}

interface FrameProps {
  box: Pick<Inbox<never>, "total" | "error" | "retry" | "more">;
  rows: readonly Row[];
  at: string;
  pathOf: (call: string) => string;
  /** The workstream of what is shown. */
  open: string | undefined;
  /** The address names this call. */
  linked: string;
  nothing: string;
  /** In which order, where it is not the oldest first. */
  order?: string;
  children: ReactNode;
}

function Frame({ box, rows, at, pathOf, open, linked, nothing, order, children }: FrameProps) {
  const self = useQuery(me).data?.name ?? "";
  useInboxKeys(rows, at, pathOf, open);
  if (box.error && box.total === undefined) return <Refused error={box.error} onRetry={box.retry} />;
  if (box.total === undefined) return <Bones />;
  if (rows.length === 0 && !linked) return <Empty nothing={nothing} />;
  return (
    <div className="ap-grid">
      <InboxList label={order ?? "Oldest first"} rows={rows} at={at} pathOf={pathOf} self={self}>
        {box.more && (
          <button type="button" className="btn sm" onClick={box.more}>
            Show more of {box.total}
          </button>
        )}
        <p>{order ? `${order}.` : "Oldest first. Nothing here holds a node, and nothing times out unless it says so."}</p>
      </InboxList>
      {children}
    </div>
  );
}

function Empty({ nothing }: { nothing: string }) {
  return (
    <div className="body">
      <div className="empty">
        <h2>{nothing}</h2>
        <p className="muted">What an agent may do by itself is written under Permissions. Whatever asks comes here.</p>
      </div>
    </div>
  );
}

function useInboxKeys(rows: readonly Row[], at: string, pathOf: (call: string) => string, open: string | undefined): void {
  const move = (step: number) => {
    const place = rows.findIndex((row) => row.call === at);
    const next = rows[Math.max(0, Math.min(rows.length - 1, place + step))];
    if (next) stand(pathOf(next.call));
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      if (open) go(workstreamPath(open));
    },
  });
  useEffect(() => {
    document.getElementById(`row-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
}

/** Whoever else answers what is shown: it stays, so that no stroke falls on what nobody has read. */
function useStanding(linked: string, first: string): string {
  const [stood, setStood] = useState("");
  const at = linked || stood || first;
  if (at !== stood) setStood(at);
  return at;
}

/** The call of a link, which may name the request in its place. */
function callOf(seen: Inbox<Waiting>["seen"], linked: string): string {
  return seen.find((one) => one.item.request_id === linked)?.item.call_id ?? linked;
}

/** The oldest that waits. */
function firstOf(seen: Inbox<Waiting>["seen"]): string {
  return (seen.find((one) => !one.gone) ?? seen[0])?.item.call_id ?? "";
}

function optionsOf(questions: readonly { options: readonly { label: string }[] }[]): string {
  return (questions[0]?.options ?? []).map((option) => option.label).join(", ");
}
