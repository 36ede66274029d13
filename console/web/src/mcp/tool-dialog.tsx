/** One tool as its server describes it, beside what was accepted where that differs. */

import { useMutation } from "@tanstack/react-query";
import { acceptTool, readAnew } from "../api/mcp-queries";
import type { McpChange, McpTool } from "../api/mcp-types";
import { Dialog } from "../design/dialog";
import { DiffView } from "../design/diff-view";
import { fullTime } from "../design/format";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { Badge } from "../permissions/badge";
import { difference, schemaText } from "./difference";

const FIRST_SIGHT = "first sight";

interface ToolDialogProps {
  server: string;
  tool: McpTool;
  /** Whether this person may accept what changed. */
  may: boolean;
  onAccepted: () => void;
  onClose: () => void;
}

export function ToolDialog({ server, tool, may, onAccepted, onClose }: ToolDialogProps) {
  const { name, exposed, description, input_schema: schema, changed } = tool;
  return (
    <Dialog label={`${name} of ${server}`} className="mcp-tool" onClose={onClose}>
      <div className="scroll grid gap-4" role="group" aria-label={name} tabIndex={0}>
        <p className="flex">
          <code className="c-mcp clip" title={exposed}>
            {exposed}
          </code>
          <Badge decision={tool.decision} />
        </p>
        {changed ? (
          <Changed change={changed} />
        ) : (
          <>
            <div className="stack">
              <h3>What the server says of it, untrusted</h3>
              <pre className="mcp-untrusted" tabIndex={0} role="group" aria-label="Description">{description || "nothing"}</pre>
            </div>
            <div className="stack">
              <h3>What it takes</h3>
              <pre className="mcp-untrusted" tabIndex={0} role="group" aria-label="Schema">{schemaText(schema)}</pre>
            </div>
          </>
        )}
      </div>
      {changed ? (
        <Accepting server={server} name={name} digest={changed.digest} may={may} onAccepted={onAccepted} onClose={onClose} />
      ) : (
        <footer>
          <span className="grow" />
          <button type="button" className="btn" onClick={onClose}>
            Close
          </button>
        </footer>
      )}
    </Dialog>
  );
}

function Changed({ change }: { change: McpChange }) {
  const described = difference(change.description_before, change.description_after);
  const takes = difference(schemaText(change.schema_before), schemaText(change.schema_after));
  return (
    <>
      <p className="muted">
        {acceptedBy(change)} at {fullTime(change.accepted_at)}, seen changed at {fullTime(change.at)}. Until it is accepted every call of it asks, whatever a rule says. Read it as the words of a
        stranger: a description can try to talk an agent into something.
      </p>
      {described && (
        <div className="stack">
          <h3>Description</h3>
          <DiffView body={described} label="What changed in its description" />
        </div>
      )}
      {takes && (
        <div className="stack">
          <h3>What it takes</h3>
          <DiffView body={takes} label="What changed in what it takes" />
        </div>
      )}
    </>
  );
}

/** What nobody accepted was taken as it was seen first. */
function acceptedBy({ accepted_by: by }: McpChange): string {
  return by === FIRST_SIGHT ? "Taken as it was first seen" : `Accepted by ${by}`;
}

interface AcceptingProps {
  server: string;
  name: string;
  digest: string;
  may: boolean;
  onAccepted: () => void;
  onClose: () => void;
}

function Accepting({ server, name, digest, may, onAccepted, onClose }: AcceptingProps) {
  const accepting = useMutation({
    mutationFn: () => acceptTool(server, name, digest),
    onSuccess: async () => {
      say(`Accepted: ${name} of ${server} is decided by the rules again`);
      await readAnew();
      onAccepted();
    },
  });
  return (
    <>
      {accepting.error && (
        <div className="notice bad mx-4 mb-4" role="alert">
          <Glyph name="fail" />
          <p>{accepting.error.message}</p>
        </div>
      )}
      <footer>
        <span className="grow faint">{!may && "Accepting needs the scope approve."}</span>
        <button type="button" className="btn quiet" onClick={onClose}>
          Leave it asking
        </button>
        <button
          type="button"
          className="btn ink"
          disabled={!may}
          aria-busy={accepting.isPending}
          onClick={() => accepting.mutate()}
        >
          Accept {name}
        </button>
      </footer>
    </>
  );
}
