/** One tool call: a line until it is opened. */

import { useState } from "react";
import { isPlan } from "../approvals/covers";
import { ChangeCount, PreviewView } from "../approvals/preview-view";
import { answerIn } from "../approvals/question-words";
import { DiffView } from "../design/diff-view";
import { EffectIcon } from "../design/effect-icon";
import { counted, fullTime, secondsBetween, ticking, took } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { oneLine, saysAll, whole } from "./arguments";
import { isRunning, type Call } from "./conversation";
import { answerOf } from "./decision";
import { DecisionBadge } from "./why";

interface CallCardProps {
  call: Call;
  /** Opened until the person closes it. */
  open: boolean;
}

export function CallCard({ call, open }: CallCardProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const running = isRunning(call);
  const failed = call.finished?.outcome === "error" || call.finished?.outcome === "timeout";
  const unfolded = chosen ?? (open || running || failed);
  const effect = call.decided?.effect ?? "process";
  const kind = [call.tool.startsWith("mcp__") && "mcp", running && "live", failed && "fail"].filter(Boolean).join(" ");
  return (
    <div className={`call ${kind}`} data-unfolded={unfolded || undefined}>
      <div className="sum">
        <button type="button" className="open" aria-expanded={unfolded} onClick={() => setChosen(!unfolded)}>
          <Icon name="right" className="tw" />
          <EffectIcon effect={effect} tool={call.tool} />
          <span className="tool">{call.tool}</span>
          <span className="args clip grow">{call.asked ? call.asked.questions.map((one) => one.text).join(" ") : oneLine(call.arguments)}</span>
          <Ended call={call} />
        </button>
        <DecisionBadge call={call} />
        <Duration call={call} running={running} />
      </div>
      {unfolded && (
        <div className="more">
          <Input call={call} />
          <Output call={call} running={running} />
          <Foot call={call} />
        </div>
      )}
    </div>
  );
}

const WORDS = { error: "failed", timeout: "timed out", refused: "refused", cancelled: "stopped", denied: "denied" } as const;

/** How it ended, or how much it said. */
function Ended({ call }: { call: Call }) {
  const { finished, requested } = call;
  if (!finished) return <ChangeCount preview={requested?.preview} />;
  if (finished.outcome === "ok") {
    if (requested && requested.preview.added + requested.preview.removed > 0) return <ChangeCount preview={requested.preview} />;
    return finished.output ? <span className="faint nowrap">{counted(lineCount(finished.output), "line")}</span> : null;
  }
  if (finished.outcome === "denied") return null;
  const look = finished.outcome === "cancelled" ? "closed" : "fail";
  return (
    <span className={`st st-${look}`}>
      <Glyph name={look} />
      {WORDS[finished.outcome]}
    </span>
  );
}

function Duration({ call, running }: { call: Call; running: boolean }) {
  if (call.finished) return <span className="dur">{call.finished.duration_ms > 0 ? took(call.finished.duration_ms) : ""}</span>;
  if (running && call.started) return <Running since={call.started.at} />;
  return <span className="dur" />;
}

function Running({ since }: { since: string }) {
  const now = useNow();
  return (
    <span className="dur c-tide" title={`since ${fullTime(since)}`}>
      {ticking(secondsBetween(since, now))}
    </span>
  );
}

function Input({ call }: { call: Call }) {
  const preview = call.requested?.preview;
  if (preview && isPlan(call.decided?.canonical ?? call.tool)) return <PreviewView preview={preview} plan />;
  if (preview?.kind === "diff" && preview.body) {
    return (
      <div className="in">
        <DiffView body={preview.body} label={`Change to ${preview.title}`} />
      </div>
    );
  }
  if (saysAll(call.arguments)) return null;
  return (
    <div className="in">
      <div className="cap">input</div>
      <pre tabIndex={0} role="group" aria-label={`Input of ${call.tool}`}>
        {whole(call.arguments)}
      </pre>
    </div>
  );
}

function Output({ call, running }: { call: Call; running: boolean }) {
  const text = call.finished?.output ?? call.output;
  if (!text && !running) return null;
  return (
    <div className="out">
      <pre tabIndex={0} role="group" aria-label={`Output of ${call.tool}`}>
        {text || <span className="p">no output yet</span>}
      </pre>
    </div>
  );
}

function Foot({ call }: { call: Call }) {
  const { finished, started } = call;
  const untouched = !finished && !started && !call.resolved && !call.answered;
  return (
    <div className="foot">
      {finished && <span className={finished.is_error ? "c-berry" : "c-moss"}>{finished.outcome}</span>}
      {finished?.output && <span>{counted(lineCount(finished.output), "line")}</span>}
      {finished?.truncated && <span className="c-reed">bounded: the middle was left out</span>}
      {started && (
        <span>
          {started.node}, {started.at.slice(11, 19)}
        </span>
      )}
      <PersonsPart call={call} />
      {untouched && <span>not started</span>}
    </div>
  );
}

/** What a person said to it. */
function PersonsPart({ call }: { call: Call }) {
  const answer = answerOf(call);
  return (
    <>
      {answer && (
        <span>
          {answer.verb} {answer.by}
          {answer.rest && `, ${answer.rest}`}
          {answer.reason && `: “${answer.reason}”`}
        </span>
      )}
      {call.answered && <span>{answerIn(call.answered, call.asked?.questions ?? [])}</span>}
    </>
  );
}

/** How many lines a text has, its last line break not counted. */
function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
