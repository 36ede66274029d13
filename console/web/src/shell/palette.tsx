/** Find a workstream by name, or do something, without the mouse. */

import { useQuery } from "@tanstack/react-query";
import { useState, type KeyboardEvent } from "react";
import { read } from "../api/client";
import type { Page, View } from "../api/types";
import { Dialog } from "../design/dialog";
import { namingOf } from "../design/naming";
import {
  approvalsPath,
  go,
  listPath,
  mcpPath,
  nodesPath,
  overviewPath,
  permissionsPath,
  questionsPath,
  schedulesPath,
  workstreamPath,
} from "./route";
import { leave } from "./sidebar";
import { nextTheme } from "./theme";

interface Choice {
  id: string;
  kind: string;
  label: string;
  keys: string[];
  act: () => void;
}

export function Palette({ onClose, onNew }: { onClose: () => void; onNew: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(text.trim());
  const wanted = text.trim().toLowerCase();
  const choices = [...actions(onNew).filter((one) => one.label.toLowerCase().includes(wanted)), ...found];
  const active = choices[Math.min(at, choices.length - 1)];
  const pick = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.act();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, choices.length - 1) + step + choices.length) % choices.length);
    }
    if (event.key === "Enter") pick(active);
  };
  return (
    <Dialog label="Find or do" className="palette" bare onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Find or do"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={active && `palette-${active.id}`}
        placeholder="Find a workstream or an action"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul id="palette-list" role="listbox" aria-label="What there is to find or do">
        {choices.map((choice) => (
          // The field above has the focus and the keys, as a combobox does.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={choice.id}
            id={`palette-${choice.id}`}
            role="option"
            aria-selected={choice === active}
            tabIndex={-1}
            onClick={() => pick(choice)}
          >
            <span className="kind">{choice.kind}</span>
            <span className={choice.kind === "Workstream" ? "mono clip" : "clip"}>{choice.label}</span>
            <span className="k">
              {choice.keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
          </li>
        ))}
      </ul>
      <p className={choices.length === 0 ? "none" : "vh"} role="status">
        {choices.length === 0 ? "Nothing has this in its name or title." : ""}
      </p>
    </Dialog>
  );
}

function useFound(text: string): Choice[] {
  const { data } = useQuery({
    queryKey: ["found", text],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ limit: "8", ...(text ? { q: text } : {}) });
      return read<Page<View>>(`/v1/workstreams?${query.toString()}`, signal);
    },
    placeholderData: (previous) => previous,
  });
  return (data?.items ?? []).map((view) => ({
    id: view.id,
    kind: "Workstream",
    label: namingOf(view).called,
    keys: [],
    act: () => go(workstreamPath(view.id)),
  }));
}

function actions(onNew: () => void): Choice[] {
  return [
    { id: "new", kind: "Do", label: "New workstream", keys: ["c"], act: onNew },
    { id: "theme", kind: "Do", label: "Next theme", keys: ["t"], act: nextTheme },
    { id: "leave", kind: "Do", label: "Sign out", keys: [], act: leave },
    { id: "overview", kind: "Go to", label: "Overview", keys: ["g", "o"], act: () => go(overviewPath) },
    { id: "workstreams", kind: "Go to", label: "Workstreams", keys: ["g", "w"], act: () => go(listPath()) },
    { id: "needs-me", kind: "Go to", label: "Approvals", keys: ["g", "a"], act: () => go(approvalsPath()) },
    { id: "questions", kind: "Go to", label: "Questions", keys: [], act: () => go(questionsPath()) },
    { id: "permissions", kind: "Go to", label: "Permissions", keys: ["g", "p"], act: () => go(permissionsPath()) },
    { id: "mcp", kind: "Go to", label: "MCP", keys: ["g", "m"], act: () => go(mcpPath()) },
    { id: "schedules", kind: "Go to", label: "Schedules", keys: ["g", "s"], act: () => go(schedulesPath()) },
    { id: "nodes", kind: "Go to", label: "Nodes", keys: ["g", "n"], act: () => go(nodesPath()) },
  ];
}
