/** What a tool may touch, as an icon. */

import type { Effect } from "../api/types";
import { Icon, type IconName } from "./glyph";

const ICONS: Record<Effect, IconName> = {
  read: "eye",
  write: "write",
  process: "process",
  network: "network",
  mcp: "mcp",
  human: "human",
  deliver: "deliver",
  state: "state",
};

export function EffectIcon({ effect, tool }: { effect: Effect; tool: string }) {
  return <Icon name={tool.startsWith("mcp__") ? "mcp" : ICONS[effect]} className="eff i-sm" />;
}
