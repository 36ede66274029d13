/** A call's input while a person edits it, as JSON text. */

import { useState } from "react";
import { lookInside } from "../workstream/json";

export interface Edited {
  /** The editor is shown. */
  open: boolean;
  text: string;
  /** What was typed is not a JSON object. */
  wrong: boolean;
  /** What is to run instead; undefined where nothing was changed. */
  input: Record<string, unknown> | undefined;
  setText: (text: string) => void;
  toggle: () => void;
}

/** The state of one call's editor; closing it takes the edit back. */
export function useEdited(input: unknown): Edited {
  const [open, setOpen] = useState(false);
  const asked = JSON.stringify(input, null, 2);
  const [text, setText] = useState(asked);
  const parsed = open ? lookInside(text) : null;
  const changed = parsed !== null && JSON.stringify(parsed) !== JSON.stringify(input);
  return {
    open,
    text,
    wrong: open && parsed === null,
    input: changed ? parsed : undefined,
    setText,
    toggle: () => {
      setOpen(!open);
      setText(asked);
    },
  };
}
