/** The second look before a server is removed from all nodes. */

import { useMutation } from "@tanstack/react-query";
import { readAnew, removeServer } from "../api/mcp-queries";
import type { McpServer } from "../api/mcp-types";
import { Dialog } from "../design/dialog";
import { counted } from "../design/format";
import { Glyph } from "../design/glyph";
import { say } from "../design/toast";
import { mcpPath, stand } from "../shell/route";

export function RemoveDialog({ server: { name, tools }, onClose }: { server: McpServer; onClose: () => void }) {
  const removing = useMutation({
    mutationFn: () => removeServer(name),
    onSuccess: async () => {
      say(`${name} is removed from all nodes`);
      stand(mcpPath());
      onClose();
      await readAnew();
    },
  });
  return (
    <Dialog label={`Remove ${name}`} onClose={onClose}>
      <div className="scroll grid gap-4">
        <p>
          Every node lets go of it. Agents lose its {counted(tools, "tool")} from their next turn on; calls that run now end as
          unknown. Rules for them stay, slots keep their secrets.
        </p>
        {removing.error && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p>{removing.error.message}</p>
          </div>
        )}
      </div>
      <footer>
        <span className="grow" />
        <button type="button" className="btn quiet" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="btn no" aria-busy={removing.isPending} onClick={() => removing.mutate()}>
          Remove {name}
        </button>
      </footer>
    </Dialog>
  );
}
