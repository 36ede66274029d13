/** One approval of the inbox, whole: who asks, what it would do, the answer. */

import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import { decisionsOn, tail } from "../api/decision-queries";
import type { CallDecision, InboxItem } from "../api/decision-types";
import { copy } from "../design/copying";
import { EffectIcon } from "../design/effect-icon";
import { clock, fullTime, secondsBetween, span } from "../design/format";
import { Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { approvalsPath, workstreamPath } from "../shell/route";
import type { Call } from "../workstream/conversation";
import { DecisionBadge } from "../workstream/why";
import { AnswerBar } from "./answer-bar";
import { contextOf } from "./context";
import { Covers, isPlan, titleOf } from "./covers";
import { useEdited } from "./edited";
import { Expiry } from "./expiry";
import { EditButton, InputEditor } from "./input-editor";
import { ChangeCount, PreviewView } from "./preview-view";
import { Settled } from "./settled";
import { TaskAndWords } from "./task-and-words";

interface ApprovalDetailProps {
  item: InboxItem;
  gone: boolean;
  onAnswered: () => void;
}

export function ApprovalDetail({ item, gone, onAnswered }: ApprovalDetailProps) {
  const { tool, preview, call_id: callId, workstream_id: workstream } = item;
  const { data: told } = useQuery(tail(workstream, gone));
  const { call, words } = useMemo(() => contextOf(told?.events ?? [], callId), [told, callId]);
  const edited = useEdited(item.input);
  const canonical = call?.decided?.canonical ?? tool;
  const asked = { workstream, requestId: item.request_id, tool, pattern: item.pattern, owner: item.owner };
  const reach = gone ? [] : item.may_answer;
  const { data: decisions } = useQuery({ ...decisionsOn(callId), enabled: gone });
  const decided = decisions?.items.findLast((one) => one.workstream === workstream);
  return (
    <section className="ap-detail" aria-label={`${tool} in ${item.workstream_name}`}>
      <Head item={item} call={call} gone={gone}>
        {reach.length > 0 && <EditButton edited={edited} />}
      </Head>
      <div className="ap-body" tabIndex={0} role="group" aria-label="What it would do">
        {gone && <Settled decision={decided} call={call} workstream={workstream} />}
        <TaskAndWords task={told?.view.title ?? ""} words={words} />
        <div className="card flat">
          <InputEditor tool={tool} edited={edited} />
          <PreviewView preview={preview} plan={isPlan(canonical)} />
        </div>
        {reach.length > 0 && (
          <div className="phone-only">
            <EditButton edited={edited} />
          </div>
        )}
      </div>
      {gone ? (
        <p className="ap-decide scope">{decidedWords(decided)}</p>
      ) : (
        <AnswerBar asked={asked} reach={reach} edited={edited} keys className="ap-decide" onAnswered={onAnswered}>
          <Covers tool={tool} canonical={canonical} inputDigest={item.input_digest} edited={edited.input !== undefined} />
        </AnswerBar>
      )}
    </section>
  );
}

function decidedWords(decided: CallDecision | undefined): string {
  if (!decided?.resolution) return "Decided.";
  return `Decided ${clock(decided.resolved_at ?? decided.at)} by ${decided.resolved_by ?? "nobody"}.`;
}

interface HeadProps {
  item: InboxItem;
  call: Call | undefined;
  gone: boolean;
  children: ReactNode;
}

function Head({ item, call, gone, children }: HeadProps) {
  const now = useNow();
  const { tool, preview, requested_at: at } = item;
  const isMcp = tool.startsWith("mcp__");
  return (
    <header className="ap-head">
      <a className="btn quiet icon phone-only" href={approvalsPath()} aria-label="Back to the list">
        <Icon name="left" />
      </a>
      <div className="grow">
        <div className="flex">
          <span className={isMcp ? "c-mcp" : "faint"}>
            <EffectIcon effect={call?.decided?.effect ?? "process"} tool={tool} />
          </span>
          <h2 className={isMcp ? "mono c-mcp" : "mono"}>{tool}</h2>
          <span className="mono clip" title={preview.title}>
            {titleOf(tool, preview.title)}
          </span>
          <ChangeCount preview={preview} />
          {call && <DecisionBadge call={call} />}
        </div>
        <div className="ap-meta">
          <a className="link mono" href={workstreamPath(item.workstream_id)}>
            {item.workstream_name}
          </a>
          <span>{item.owner}</span>
          <span title={fullTime(at)}>asked {clock(at)}</span>
          {!gone && <span className="c-leg">waits {span(secondsBetween(at, now))}</span>}
          {!gone && <Expiry at={item.expires_at} />}
        </div>
      </div>
      <div className="btns wide-only">
        {children}
        <CopyLink call={item.call_id} />
        <a className="btn sm" href={workstreamPath(item.workstream_id)}>
          Open<kbd>o</kbd>
        </a>
      </div>
    </header>
  );
}

function CopyLink({ call }: { call: string }) {
  const link = `${window.location.origin}${window.location.pathname}${approvalsPath(call)}`;
  return (
    <button type="button" className="btn sm" onClick={() => void copy(link, "Link copied")}>
      <Icon name="copy" />
      Link
    </button>
  );
}
