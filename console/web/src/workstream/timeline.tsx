/** The whole log as one line: turns by node, people tall. */

import { memo, type KeyboardEvent, type MouseEvent } from "react";
import { clock } from "../design/format";
import { Glyph } from "../design/glyph";
import { pendingAsks, type Conversation, type Tick } from "./conversation";

const WIDTH = 1000;
const LOOKS: Record<Tick["weight"], { top: number; stroke: string; width: number }> = {
  person: { top: 14, stroke: "var(--ink)", width: 2 },
  turn: { top: 20, stroke: "var(--ink-3)", width: 1.5 },
  minor: { top: 28, stroke: "var(--line-2)", width: 1.5 },
  mcp: { top: 28, stroke: "var(--mcp-line)", width: 1.5 },
};
/** More ticks than this are one grey band; people and turns still stand out. */
const MOST_TICKS = 600;

interface TimelineProps {
  conversation: Conversation;
  /** The event that the person walked to; 0 is now. */
  at: number;
  onGo: (seq: number) => void;
}

export const Timeline = memo(function Timeline({ conversation, at, onGo }: TimelineProps) {
  const { ticks, seq: last } = conversation;
  const [first] = ticks;
  if (!first) return <div className="tl" />;
  const shown = at || last;
  const place = (seq: number) => `${(100 * (seq - first.seq + 1)) / (last - first.seq + 1)}%`;
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
    const target = event.key === "Home" ? first.seq : event.key === "End" ? 0 : step ? shown + step : null;
    if (target === null) return;
    event.preventDefault();
    onGo(target >= last ? 0 : Math.max(first.seq, target));
  };
  const point = (event: MouseEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const seq = first.seq + Math.round(((event.clientX - box.left) / box.width) * (last - first.seq + 1)) - 1;
    onGo(seq >= last ? 0 : Math.max(first.seq, seq));
  };
  const waits = pendingAsks(conversation).length > 0;
  return (
    <div className="tl">
      <span title={first.at}>{clock(first.at).slice(0, 5)}</span>
      <div
        className="lane"
        role="slider"
        tabIndex={0}
        aria-label={`Timeline of ${last} events`}
        aria-valuemin={first.seq}
        aria-valuemax={last}
        aria-valuenow={shown}
        aria-valuetext={at ? `event ${at}` : `now, event ${last}`}
        onKeyDown={press}
        onClick={point}
      >
        <div>
          <Ticks ticks={ticks} first={first.seq} last={last} />
          <Held ticks={ticks} place={place} />
          <Unknown conversation={conversation} place={place} />
        </div>
        {waits && (
          <span className="mark need left-full" title="needs you">
            <Glyph name="you" />
          </span>
        )}
        {at > 0 ? (
          <span className="grip" style={{ left: place(at) }} />
        ) : (
          conversation.state === "running" && <span className="grip left-full" />
        )}
      </div>
      {at > 0 ? (
        <button type="button" className="btn sm" onClick={() => onGo(0)}>
          Back to now
        </button>
      ) : (
        <span>now</span>
      )}
    </div>
  );
});

const Ticks = memo(function Ticks({ ticks, first, last }: { ticks: Tick[]; first: number; last: number }) {
  const few = ticks.length <= MOST_TICKS ? ticks : ticks.filter((tick) => tick.weight === "person" || tick.weight === "turn");
  return (
    <svg viewBox={`0 0 ${WIDTH} 40`} preserveAspectRatio="none" aria-hidden="true">
      {few.map(({ seq, weight }) => {
        const x = (WIDTH * (seq - first + 1)) / (last - first + 1);
        const { top, stroke, width } = LOOKS[weight];
        return (
          <line
            key={seq}
            x1={x}
            x2={x}
            y1={top}
            y2={34}
            stroke={stroke}
            strokeWidth={width}
            vectorEffect="non-scaling-stroke"
          />
        );
      })}
    </svg>
  );
});

/** Which node held it, along the line. */
function Held({ ticks, place }: { ticks: Tick[]; place: (seq: number) => string }) {
  const spans: { node: string; from: number; to: number }[] = [];
  for (const { node, seq } of ticks) {
    const last = spans.at(-1);
    if (!node) continue;
    if (last?.node === node) last.to = seq;
    else spans.push({ node, from: seq, to: seq });
  }
  return spans.map(({ node, from, to }) => (
    <span key={from} className="held" style={{ left: place(from), width: `calc(${place(to)} - ${place(from)})` }}>
      {node}
    </span>
  ));
}

function Unknown({ conversation, place }: { conversation: Conversation; place: (seq: number) => string }) {
  return [...conversation.calls.values()].map(({ id, interrupted }) =>
    interrupted ? (
      <span key={id} className="mark c-reed" style={{ left: place(interrupted.seq) }} title={`#${interrupted.seq} outcome unknown`}>
        <Glyph name="unk" />
      </span>
    ) : null,
  );
}
