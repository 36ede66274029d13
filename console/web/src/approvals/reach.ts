/** How far a person's word on an approval may reach. */

import type { Me, Reach } from "../api/types";

const WHOLE: readonly Reach[] = ["once", "workstream", "always"];
const SHORT: readonly Reach[] = ["once", "workstream"];
const NONE: readonly Reach[] = [];

/** A rule for always belongs to the owner, so only they and admins can make it. Empty: this person may not answer. */
export function reachOf(me: Me | undefined, owner: string): readonly Reach[] {
  if (!me?.scopes.includes("approve")) return NONE;
  return me.name === owner || me.scopes.includes("admin") ? WHOLE : SHORT;
}
