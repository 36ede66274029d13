/** A call that waits for a person, in its workstream's log: what it would do, and the answer. */

import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { Requested } from "../api/events";
import { me } from "../api/queries";
import type { Effect } from "../api/types";
import { EffectIcon } from "../design/effect-icon";
import { clock, fullTime } from "../design/format";
import type { Call } from "../workstream/conversation";
import { lookInside } from "../workstream/json";
import { DecisionBadge } from "../workstream/why";
import { AnswerBar } from "./answer-bar";
import { Covers, isPlan, titleOf } from "./covers";
import { useEdited } from "./edited";
import { Expiry, momentOf } from "./expiry";
import { useFocusKept } from "./focus-kept";
import { EditButton, InputEditor } from "./input-editor";
import { ChangeCount, PreviewView } from "./preview-view";
import { reachOf } from "./reach";

interface ApprovalCardProps {
  workstream: string;
  owner: string;
  call: Call;
  requested: Requested;
  effect: Effect;
  /** The one that single keys answer. */
  first: boolean;
}

export function ApprovalCard({ workstream, owner, call, requested, effect, first }: ApprovalCardProps) {
  const { preview, tool, at, input_digest: inputDigest, request_id: requestId } = requested;
  const card = useRef<HTMLElement>(null);
  useFocusKept(card);
  const reach = reachOf(useQuery(me).data, owner);
  const edited = useEdited(lookInside(requested.arguments) ?? requested.arguments);
  const canonical = call.decided?.canonical ?? tool;
  const pattern = requested.pattern || tool;
  return (
    <section ref={card} className="card need" aria-label={`Approval: ${tool} ${preview.title}`}>
      <header>
        <EffectIcon effect={effect} tool={tool} />
        <span className="tool mono strong">{tool}</span>
        <span className="mono clip" title={preview.title}>
          {titleOf(canonical, preview.title)}
        </span>
        <ChangeCount preview={preview} />
        <DecisionBadge call={call} />
        <span className="end" title={fullTime(at)}>
          <Expiry at={momentOf(requested.expires_at)} />
          asked {clock(at)}
          {reach.length > 0 && <EditButton edited={edited} />}
        </span>
      </header>
      <InputEditor tool={tool} edited={edited} />
      <PreviewView preview={preview} plan={isPlan(canonical)} />
      <AnswerBar asked={{ workstream, requestId, tool, pattern, owner }} reach={reach} edited={edited} keys={first}>
        <Covers tool={tool} canonical={canonical} inputDigest={inputDigest} edited={edited.input !== undefined} />
      </AnswerBar>
    </section>
  );
}
