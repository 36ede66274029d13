/** What stands here while there is no MCP server: ways to the first. */

import { copy } from "../design/copying";
import { Icon } from "../design/glyph";

const COMMAND = "redshank mcp add time -- uvx mcp-server-time";
const SETTINGS = '[mcp.servers.time]\ncommand = "uvx"\nargs = ["mcp-server-time"]';

export function NoServer({ may, onAdd }: { may: boolean; onAdd: () => void }) {
  return (
    <div className="body">
      <div className="empty">
        <h2>No MCP server yet</h2>
        <p className="muted">
          A server brings tools, resources and prompts that Redshank did not ship. One that is added here is on every node
          within seconds, without a restart; its tools ask until a rule says otherwise.
        </p>
        <div className="btns">
          <button type="button" className="btn ink" disabled={!may} title={may ? undefined : "Needs the role admin"} onClick={onAdd}>
            <Icon name="plus" />
            Add the first server
          </button>
          {!may && <span className="faint">Adding one needs the role admin.</span>}
        </div>
      </div>
      <div className="fr-grid">
        <Way name="On the command line" text={COMMAND} />
        <Way name="In the settings of the nodes" text={SETTINGS} />
      </div>
    </div>
  );
}

function Way({ name, text }: { name: string; text: string }) {
  return (
    <section className="panel" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span className="end">
          <button type="button" className="btn sm quiet" onClick={() => void copy(text, "Copied")}>
            <Icon name="copy" />
            Copy
          </button>
        </span>
      </header>
      <pre className="pad3 scroll-x">{text}</pre>
    </section>
  );
}
