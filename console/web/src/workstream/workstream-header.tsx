/** A workstream's name, its state, and what can be done to the whole of it. */

import { fullTime, secondsBetween, span } from "../design/format";
import { Icon } from "../design/glyph";
import type { Naming } from "../design/naming";
import { useNow } from "../design/now";
import { Popover } from "../design/popover";
import { lookOf, StateLabel } from "../design/state-label";
import { listPath } from "../shell/route";
import { MODES } from "../workstreams/modes";
import type { Conversation } from "./conversation";
import { ModeChoices } from "./mode-choices";

interface WorkstreamHeaderProps {
  naming: Naming;
  conversation: Conversation;
  onStop: () => void;
  onFork: () => void;
  onClose: () => void;
  onSide: () => void;
  onMode: (mode: Conversation["mode"]) => void;
}

export function WorkstreamHeader(props: WorkstreamHeaderProps) {
  const { naming, conversation, onStop, onFork, onClose, onSide, onMode } = props;
  const busy = conversation.state === "running" || conversation.state === "waiting";
  const closed = conversation.state === "closed";
  return (
    <header className="top ws-top">
      <a className="btn quiet icon" href={listPath()} aria-label="All workstreams">
        <Icon name="left" />
      </a>
      <div className="ws-name">
        <h1 className={naming.words ? "clip" : "mono clip"} title={naming.called}>{naming.called}</h1>
        {naming.beside && <span className={`sub clip${naming.words ? " mono" : ""}`}>{naming.beside}</span>}
      </div>
      <span className="flex">
        {conversation.seq > 0 && <StateBox conversation={conversation} />}
        {conversation.mode !== "default" && <ModeTag mode={conversation.mode} />}
      </span>
      <div className="acts">
        {conversation.state === "running" && (
          <button type="button" className="btn" onClick={onStop} title="Stop">
            <Icon name="stop" />
            Stop<kbd>Esc</kbd>
          </button>
        )}
        <button type="button" className="btn wide-only" onClick={onFork} title="Fork from the last event">
          <Icon name="fork" />
          Fork
        </button>
        <button type="button" className="btn icon" aria-label="Facts" aria-controls="facts" onClick={onSide}>
          <Icon name="side" />
        </button>
        <button type="button" className="btn icon" aria-label="More: fork, mode, close" popoverTarget="ws-more">
          <Icon name="more" />
        </button>
      </div>
      <Popover id="ws-more" className="menu">
        {busy && (
          <button type="button" onClick={onStop}>
            <Icon name="stop" />
            <span>Stop</span>
          </button>
        )}
        <button type="button" onClick={onFork}>
          <Icon name="fork" />
          <span>Fork from #{conversation.seq}</span>
        </button>
        {!closed && (
          <button type="button" onClick={onClose}>
            <span />
            <span className="c-berry">Close…</span>
          </button>
        )}
        {!closed && <p className="px-2 pt-2 text-xs text-ink-3">Mode</p>}
        {!closed && <ModeChoices mode={conversation.mode} onMode={onMode} />}
      </Popover>
    </header>
  );
}

/** A mode that is not the usual one is said: it decides what asks. */
function ModeTag({ mode }: { mode: Conversation["mode"] }) {
  const says = MODES.find((one) => one.mode === mode)?.says;
  return (
    <span className="tag" title={says}>
      {mode === "plan" ? "plan mode" : mode}
    </span>
  );
}

function StateBox({ conversation }: { conversation: Conversation }) {
  const now = useNow();
  const { state, waitingFor, since, node, taken, epoch } = conversation;
  const look = lookOf(state, waitingFor);
  const words = () => {
    const holder = taken && taken.epoch > epoch ? taken.node : node;
    const [wait] = waitingFor;
    const age = span(secondsBetween(wait?.since ?? since, now));
    if (look === "run") return holder ? `running on ${holder}` : "running";
    if (look === "you") return `needs you, ${wait?.kind ?? ""} ${age}`;
    if (look === "wait") return wait ? `waits for ${wait.kind} ${age}` : "waits";
    return undefined;
  };
  const said = words();
  return (
    <span title={`since ${fullTime(since)}`}>
      <StateLabel look={look} boxed {...(said ? { words: said } : {})} />
    </span>
  );
}
