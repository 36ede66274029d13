/** Makes a workstream: its name, its mode, the first message. */

import { useMutation } from "@tanstack/react-query";
import { useState, type KeyboardEvent, type SyntheticEvent } from "react";
import { ApiError } from "../api/client";
import { create } from "../api/commands";
import type { Mode } from "../api/types";
import { Dialog } from "../design/dialog";
import { Glyph } from "../design/glyph";
import { go, workstreamPath } from "../shell/route";
import { MODES } from "./modes";

export function NewDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [mode, setMode] = useState<Mode>("default");
  const [message, setMessage] = useState("");
  const making = useMutation({
    mutationFn: create,
    onSuccess: (view) => {
      onClose();
      go(workstreamPath(view.id));
    },
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (making.isPending) return;
    making.mutate({ mode, ...(name.trim() ? { name: name.trim() } : {}), ...(message.trim() ? { message } : {}) });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  };
  const wrong = making.error instanceof ApiError ? making.error : null;
  const wrongField = wrong?.field ?? "";
  return (
    <Dialog label="New workstream" onClose={onClose}>
      <form className="contents" onSubmit={submit}>
        <div className="scroll grid gap-4">
          <div className="field">
            <label htmlFor="new-name">Name</label>
            <input
              className="input mono"
              id="new-name"
              autoComplete="off"
              value={name}
              aria-invalid={wrongField === "name" || undefined}
              aria-describedby="new-name-says"
              onChange={(event) => setName(event.target.value)}
            />
            {wrong && wrongField === "name" ? (
              <span className="err" id="new-name-says" role="alert">
                <Glyph name="warn" />
                {wrong.message}
              </span>
            ) : (
              <span className="help" id="new-name-says">
                Leave empty to have one made.
              </span>
            )}
          </div>
          <div className="field">
            <label htmlFor="new-mode">Mode</label>
            <select
              className="input"
              id="new-mode"
              value={mode}
              onChange={(event) => setMode(MODES.find((one) => one.mode === event.target.value)?.mode ?? "default")}
            >
              {MODES.map((one) => (
                <option key={one.mode} value={one.mode}>
                  {one.mode}
                </option>
              ))}
            </select>
            <span className="help">{MODES.find((one) => one.mode === mode)?.says}</span>
          </div>
          <div className="field">
            <label htmlFor="new-message">First message</label>
            <textarea
              className="input"
              id="new-message"
              rows={5}
              value={message}
              onKeyDown={press}
              onChange={(event) => setMessage(event.target.value)}
            />
            <span className="help">Stored before you get an answer.</span>
          </div>
          {wrong && wrongField !== "name" && (
            <div className="notice bad" role="alert">
              <Glyph name="fail" />
              <p>{wrong.message}</p>
            </div>
          )}
        </div>
        <footer>
          <span className="grow" />
          <button type="button" className="btn quiet" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn ink" aria-busy={making.isPending}>
            Make it<kbd>Ctrl ↵</kbd>
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
