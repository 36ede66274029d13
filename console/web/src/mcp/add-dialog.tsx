/** Adds a server to all nodes: one of the catalog, or another by address or command. */

import { useMutation } from "@tanstack/react-query";
import { useState, type SyntheticEvent } from "react";
import { ApiError } from "../api/client";
import { addServer, readAnew } from "../api/mcp-queries";
import { Dialog } from "../design/dialog";
import { counted } from "../design/format";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { go, mcpPath } from "../shell/route";
import { AddFields } from "./add-fields";
import { Catalog } from "./catalog";
import { blamedField, BLANK, draftOf, fieldsShown, requestOf, type Draft } from "./draft";

interface AddDialogProps {
  /** How many nodes it will be on. */
  nodes: number;
  onClose: () => void;
}

export function AddDialog({ nodes, onClose }: AddDialogProps) {
  const [draft, setDraft] = useState<Draft>(BLANK);
  const [picked, setPicked] = useState("");
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const adding = useMutation({
    mutationFn: addServer,
    onSuccess: (server) => {
      void readAnew();
      say(`${server.name} is added; nodes connect to it now`);
      onClose();
      go(mcpPath(server.name));
    },
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!adding.isPending) adding.mutate(requestOf(draft));
  };
  const refused = adding.error instanceof ApiError ? adding.error : null;
  const wrong = refused ? blamedField(refused.field, adding.variables?.name ?? "") : "";
  const shown = fieldsShown(draft).includes(wrong);
  return (
    <Dialog label="Add an MCP server" className="add" onClose={onClose}>
      <form className="contents" onSubmit={submit} noValidate>
        <div className="add-grid">
          <Catalog
            picked={picked}
            onPick={(entry) => {
              setPicked(entry?.name ?? "");
              setDraft(entry ? draftOf(entry) : BLANK);
              adding.reset();
            }}
          />
          <div className="scroll grid gap-4 content-start">
            <AddFields draft={draft} change={change} wrong={wrong} message={refused?.message ?? ""} />
            {adding.error && !shown && (
              <div className="notice bad" role="alert">
                <Glyph name="fail" />
                <p>{adding.error.message}</p>
              </div>
            )}
          </div>
        </div>
        <footer>
          <span className="grow faint">Every tool of it asks until a rule says otherwise.</span>
          <button type="button" className="btn quiet" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="btn ink" aria-busy={adding.isPending}>
            Add to {counted(nodes, "node")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
