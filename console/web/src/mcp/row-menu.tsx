/** What can be done to a server beside its two buttons. */

import type { McpServer } from "../api/mcp-types";
import { Icon } from "../design/glyph";
import { Popover } from "../design/popover";
import type { Acts, Rights } from "./server-grid";

interface RowMenuProps extends Acts {
  server: McpServer;
  login: boolean;
  rights: Rights;
}

export function RowMenu({ server: { name, origin, auth }, login, rights, onLogin, onRemove }: RowMenuProps) {
  const id = `more-${name}`;
  return (
    <>
      <button type="button" className="btn sm icon quiet" popoverTarget={id} aria-label={`More for ${name}`} title="More">
        <Icon name="more" />
      </button>
      <Popover id={id} className="menu">
        {auth === "oauth" && (
          <button type="button" disabled={!rights.operate} onClick={() => onLogin(name)}>
            <Icon name="key" />
            <span>{login ? "Log in" : "Log in anew"}</span>
            <small>At the server&rsquo;s own login page.{!rights.operate && " Needs the scope operate."}</small>
          </button>
        )}
        <button type="button" disabled={!rights.admin || origin === "settings"} onClick={() => onRemove(name)}>
          <Icon name="x" />
          <span>Remove</span>
          <small>{whyNot(origin, rights.admin)}</small>
        </button>
      </Popover>
    </>
  );
}

/** Why a server cannot be removed here, else what removing means. */
export function whyNot(origin: McpServer["origin"], admin: boolean): string {
  if (origin === "settings") return "It stands in the settings of the nodes: take it out there.";
  return admin ? "From every node, at once." : "Needs the role admin.";
}
