/** Glyphs and icons: shapes of one inline sprite. */

import sprite from "./sprite.svg?raw";

export type GlyphName =
  | "run" | "you" | "wait" | "idle" | "fail" | "closed" | "up" | "lost" | "drain"
  | "unk" | "warn" | "late" | "done" | "allow" | "ask" | "deny" | "paused" | "off";
export type IconName =
  | "ws" | "approvals" | "search" | "right" | "left" | "down" | "plus" | "x" | "more" | "fork" | "stop" | "refresh"
  | "theme" | "copy" | "next" | "steer" | "eye" | "write" | "process" | "network" | "human" | "deliver" | "state"
  | "mcp" | "side" | "file" | "agent" | "nodes" | "key" | "overview" | "schedules" | "pause" | "play" | "cal"
  | "lock" | "open" | "wider" | "narrower" | "permissions" | "audit" | "reconnect";

/** Puts the shapes into the page, once. */
export function Sprite() {
  return <div className="vh" aria-hidden="true" dangerouslySetInnerHTML={{ __html: sprite }} />;
}

/** A state's or a decision's shape; the word beside it says the same. */
export function Glyph({ name, className = "" }: { name: GlyphName; className?: string }) {
  return (
    <svg className={`g ${className}`} aria-hidden="true">
      <use href={`#g-${name}`} />
    </svg>
  );
}

export function Icon({ name, className = "" }: { name: IconName; className?: string }) {
  return (
    <svg className={`i ${className}`} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

export function Bird({ className }: { className?: string }) {
  return (
    <svg className={className} aria-hidden="true">
      <use href="#bird" />
    </svg>
  );
}
