/** A node's state as shape, colour, word. */

import type { NodeState } from "../api/types";
import { Glyph, type GlyphName } from "../design/glyph";

const GLYPHS: Record<NodeState, GlyphName> = { up: "up", lost: "lost", draining: "drain" };

interface NodeStateProps {
  state: NodeState;
  boxed?: boolean;
  /** Said behind the state, such as since when. */
  more?: string;
}

export function NodeStateLabel({ state, boxed = false, more = "" }: NodeStateProps) {
  const glyph = GLYPHS[state];
  return (
    <span className={`st st-${glyph}${boxed ? " box" : ""}`}>
      <Glyph name={glyph} />
      {more ? `${state} ${more}` : state}
    </span>
  );
}
