/** What an answer to an approval covers, in a sentence or two. */

import { digest } from "../design/format";

interface CoversProps {
  tool: string;
  canonical: string;
  inputDigest: string;
  edited: boolean;
}

export function Covers({ tool, canonical, inputDigest, edited }: CoversProps) {
  if (edited) {
    return (
      <>
        <b>Allow once</b> covers the input as you edited it. It is decided anew before it runs.
      </>
    );
  }
  if (isPlan(canonical || tool)) {
    return (
      <>
        <b>Allow once</b> accepts this plan: plan mode ends, and the agent carries it out in the mode before it. To send it
        back, deny with a word to the agent.
      </>
    );
  }
  return (
    <>
      <b>Allow once</b> covers exactly this input
      {inputDigest && (
        <>
          , <code title={inputDigest}>{digest(inputDigest)}</code>
        </>
      )}
      . If what it touches changes first, it is refused and asked anew. <b>Always</b> covers every input of this tool.
    </>
  );
}

/** A call in a line; a plan's heading without its mark. */
export function titleOf(tool: string, title: string): string {
  return isPlan(tool) ? title.replace(/^#+\s*/, "") : title;
}

/** Whether a call proposes a plan. */
export function isPlan(tool: string): boolean {
  return tool === "exit_plan_mode";
}
