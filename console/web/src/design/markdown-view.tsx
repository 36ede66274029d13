/** Markdown shown block by block, so that a growing text renders only its last one anew. */

import { memo, useMemo } from "react";
import { blocksOf, htmlOf } from "./markdown";

export function MarkdownView({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className={`prose${streaming ? " streaming" : ""}`}>
      {blocks.map((block, at) => (
        <Block key={at} block={block} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ block }: { block: string }) {
  const html = useMemo(() => htmlOf(block), [block]);
  return <div dangerouslySetInnerHTML={{ __html: html }} />;
});
