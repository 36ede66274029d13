/** A change to a file: sign, edge, tint and words say the same. */

import { useMemo } from "react";
import { parseDiff, type DiffLine } from "./diff";

export function DiffView({ body, label }: { body: string; label: string }) {
  const lines = useMemo(() => parseDiff(body), [body]);
  return (
    <div className="diff" role="group" aria-label={label} tabIndex={0}>
      {lines.map((line, at) => (
        <Line key={at} line={line} />
      ))}
    </div>
  );
}

function Line({ line }: { line: DiffLine }) {
  if (line.kind === "hunk") return <div className="hunk">{line.text.replace("@@ -", "@@ −")}</div>;
  const sign = { add: "+", del: "−", same: "" }[line.kind];
  return (
    <div className={`ln${line.kind === "same" ? "" : ` ${line.kind}`}`}>
      <span>{line.before}</span>
      <span>{line.after}</span>
      <span>{sign}</span>
      <span>
        <Words line={line} />
      </span>
    </div>
  );
}

function Words({ line: { kind, text, changed } }: { line: DiffLine }) {
  if (!changed || changed[0] >= changed[1]) return text;
  const [start, end] = changed;
  const middle = text.slice(start, end);
  return (
    <>
      {text.slice(0, start)}
      {kind === "del" ? <del>{middle}</del> : <ins>{middle}</ins>}
      {text.slice(end)}
    </>
  );
}
