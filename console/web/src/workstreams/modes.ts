/** The permission modes in the words of the page. */

import type { Mode } from "../api/types";

export const MODES: { mode: Mode; says: string }[] = [
  { mode: "default", says: "Rules decide, ask means a person." },
  { mode: "acceptEdits", says: "Edits inside the workspace are allowed." },
  { mode: "plan", says: "Reads only. Everything else is denied." },
  { mode: "dontAsk", says: "Whatever would ask is denied." },
  { mode: "bypassPermissions", says: "Asks become allow. A deny stays a deny." },
];
