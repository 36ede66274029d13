/** A call to decide on without making it. */

import { useMutation } from "@tanstack/react-query";
import { useId, useState, type KeyboardEvent, type SyntheticEvent } from "react";
import { ApiError } from "../api/client";
import { check } from "../api/commands";
import type { Standpoint } from "../api/decision-types";
import type { Mode } from "../api/types";
import { Glyph } from "../design/glyph";
import { lookInside } from "../workstream/json";
import { MODE_ORDER } from "./rows";
import type { Shown } from "./verdict";

interface TryCallProps {
  standpoint: Standpoint;
  /** The names of the tools that there are. */
  tools: readonly string[];
  onShown: (shown: Shown) => void;
}

export function TryCall({ standpoint, tools, onShown }: TryCallProps) {
  const id = useId();
  const [tool, setTool] = useState("");
  const [mode, setMode] = useState<Mode>("default");
  const [text, setText] = useState("");
  const input = text.trim() === "" ? {} : lookInside(text);
  const checking = useMutation({
    mutationFn: () => check({ ...standpoint, tool: tool.trim(), mode, input: input ?? {} }),
    onSuccess: (found) => onShown({ tool: found.tool, verdict: found, registered: found.registered }),
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (tool.trim() && input && !checking.isPending) checking.mutate();
  };
  const press = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
  };
  const refused = checking.error instanceof ApiError ? checking.error.message : checking.error && "That did not work.";
  return (
    // Ctrl Enter checks from whatever field has the focus.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form className="try" onSubmit={submit} onKeyDown={press} noValidate>
      <div className="field">
        <label htmlFor={`${id}-tool`}>Tool</label>
        <input
          id={`${id}-tool`}
          className="input mono"
          list={`${id}-tools`}
          autoComplete="off"
          spellCheck={false}
          value={tool}
          onChange={(event) => setTool(event.target.value)}
        />
        <datalist id={`${id}-tools`}>
          {tools.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      <div className="field">
        <label htmlFor={`${id}-mode`}>Mode</label>
        <select id={`${id}-mode`} className="input" value={mode} onChange={(event) => setMode(event.target.value as Mode)}>
          {MODE_ORDER.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-input`}>Input</label>
        <textarea
          id={`${id}-input`}
          className="input mono"
          rows={3}
          spellCheck={false}
          placeholder={'{"action": "create"}'}
          value={text}
          aria-invalid={input === null || undefined}
          aria-describedby={input === null ? `${id}-wrong` : undefined}
          onChange={(event) => setText(event.target.value)}
        />
        {input === null && (
          <span className="err" id={`${id}-wrong`} role="alert">
            <Glyph name="warn" />
            This is no JSON object. Mend it, or leave it empty.
          </span>
        )}
      </div>
      <button type="submit" className="btn ink" disabled={!tool.trim() || input === null} aria-busy={checking.isPending}>
        Check<kbd>Ctrl ↵</kbd>
      </button>
      {refused && (
        <div className="notice bad" role="alert">
          <Glyph name="fail" />
          <p>{refused}</p>
        </div>
      )}
    </form>
  );
}
