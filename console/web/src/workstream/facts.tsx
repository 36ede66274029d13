/** What there is to know of a workstream beside its log. */

import { useMemo, useState } from "react";
import type { View } from "../api/types";
import { clock, fullTime, tokens } from "../design/format";
import { Icon } from "../design/glyph";
import { Popover } from "../design/popover";
import { workstreamPath } from "../shell/route";
import { AuditList } from "./audit-list";
import type { Conversation } from "./conversation";
import { filesOf } from "./files";
import { FilesList } from "./files-list";
import { ModeChoices } from "./mode-choices";
import { SideTabs, type Side } from "./side-tabs";

interface FactsProps {
  id: string;
  conversation: Conversation;
  view: View | undefined;
  onMode: (mode: Conversation["mode"]) => void;
  onClose: () => void;
  onGo: (seq: number) => void;
}

export function Facts({ id, conversation, view, onMode, onClose, onGo }: FactsProps) {
  const { mode, inputTokens, outputTokens, calls, turns, seq } = conversation;
  const profile = [conversation.profile, conversation.persona].filter(Boolean).join(", ");
  const model = conversation.model || view?.model;
  const files = useMemo(() => filesOf(calls), [calls]);
  const [side, setSide] = useState<Side>("files");
  const decided = [...calls.values()].filter((call) => call.decided).length;
  return (
    <aside className="ws-side" aria-label="Facts" id="facts">
      <div className="phead">
        <SideTabs side={side} onSide={setSide} files={files.length} decisions={decided} />
        <button type="button" className="btn quiet sm icon side-close ml-auto" aria-label="Close facts" onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      <div className="contents" role="tabpanel" id="side" aria-labelledby={`side-${side}`}>
        {side === "files" ? <FilesList files={files} /> : <AuditList id={id} seq={seq} onGo={onGo} />}
      </div>
      <div className="ws-facts">
        <h2 className="vh">Facts</h2>
        <div className="budget">
          <Figure label="Tokens" value={tokens(inputTokens + outputTokens)} />
          <Figure label="Calls" value={String(calls.size)} />
          <Figure label="Read" value={tokens(inputTokens)} />
          <Figure label="Written" value={tokens(outputTokens)} />
        </div>
        <dl className="facts">
          <dt>Mode</dt>
          <dd>
            <button type="button" className="modebtn mono" popoverTarget="modes" aria-label={`Mode ${mode}: change`}>
              {mode} <Icon name="down" className="i-sm" />
            </button>
          </dd>
          <dt>Node</dt>
          <dd>
            <Holder conversation={conversation} view={view} />
          </dd>
          <dt>{conversation.persona ? "Profile, persona" : "Profile"}</dt>
          <dd className="mono">{profile}</dd>
          {model && (
            <>
              <dt>Model</dt>
              <dd className="mono">{model}</dd>
            </>
          )}
          <dt>Owner</dt>
          <dd>{conversation.owner}</dd>
          <dt>Turns</dt>
          <dd>{turns}</dd>
          <dt>Last event</dt>
          <dd className="mono">#{seq}</dd>
          <Origin conversation={conversation} />
          {view && view.labels.length > 0 && (
            <>
              <dt>Labels</dt>
              <dd className="mono">{view.labels.join(", ")}</dd>
            </>
          )}
        </dl>
      </div>
      <Popover id="modes" className="menu">
        <ModeChoices mode={mode} onMode={onMode} />
      </Popover>
    </aside>
  );
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <span className="flex">
        <span className="faint">{label}</span>
        <span className="grow" />
        <b>{value}</b>
      </span>
    </div>
  );
}

/** Who holds it, or since when nobody does. */
function Holder({ conversation, view }: { conversation: Conversation; view: View | undefined }) {
  const { node, epoch, taken, state, since } = conversation;
  if (taken && taken.epoch > epoch) return `${taken.node}, epoch ${taken.epoch}`;
  if (state === "running" && node) return `${node}, epoch ${epoch}`;
  if (state === "running") return view?.state === "running" && view.node ? view.node : "handed out, not taken up yet";
  return since ? <span title={fullTime(since)}>none, parked {clock(since)}</span> : "none";
}

function Origin({ conversation: { forkedFrom, forkedAt } }: { conversation: Conversation }) {
  if (!forkedFrom) return null;
  return (
    <>
      <dt>Forked</dt>
      <dd>
        <a className="link mono" href={workstreamPath(forkedFrom)}>
          {forkedFrom}
        </a>{" "}
        from #{forkedAt}
      </dd>
    </>
  );
}
