/** What of a server needs a look: nodes that cannot reach it, a login, tools that changed. */

import type { McpServer, McpTool } from "../api/mcp-types";
import { clock, counted, fullTime } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { listed } from "../nodes/versions";
import { failures, heardFrom, needsLogin, type Failure } from "./standing";

interface TroublesProps {
  server: McpServer;
  changed: readonly McpTool[];
  /** Whether this person may log in for the cluster. */
  may: boolean;
  onLogin: () => void;
  onCompare: () => void;
}

export function Troubles({ server, changed, may, onLogin, onCompare }: TroublesProps) {
  return (
    <div className="mcp-says">
      {failures(server).map((failure) => (
        <Unreached key={failure.detail} failure={failure} goesOn={goingOn(server)} />
      ))}
      {needsLogin(server) && (
        <div className="notice warn">
          <Icon name="key" />
          <p>
            <b>It waits for a login.</b> {loginWords(server, may)}
          </p>
          {server.auth === "oauth" && may && (
            <button type="button" className="btn sm" onClick={onLogin}>
              Log in
            </button>
          )}
        </div>
      )}
      {changed.length > 0 && (
        <div className="notice warn">
          <Glyph name="warn" />
          <p>
            <b>
              {counted(changed.length, "tool")} changed since {changed.length === 1 ? "it was" : "they were"} accepted:
            </b> <Names tools={changed} />.{" "}
            {changed.length === 1 ? "It asks" : "They ask"} anew on every call, whatever a rule says.
          </p>
          <button type="button" className="btn sm" onClick={onCompare}>
            Compare
          </button>
        </div>
      )}
    </div>
  );
}

function loginWords({ auth, name }: McpServer, may: boolean): string {
  if (auth !== "oauth") return "Its secret is refused or missing: fill its slot, then reconnect.";
  return may ? "Its tools cannot be called until somebody logs in." : `An operator logs in here, or with redshank mcp login ${name}.`;
}

function Unreached({ failure: { on, since, detail }, goesOn }: { failure: Failure; goesOn: string }) {
  return (
    <div className="notice bad">
      <Glyph name="lost" />
      <p>
        <b title={fullTime(since)}>
          {listed(on)} cannot reach it since {clock(since)}.
        </b>{" "}
        {detail && (
          <>
            <code>{detail}</code>.{" "}
          </>
        )}
        {goesOn}
      </p>
    </div>
  );
}

function goingOn(server: McpServer): string {
  const well = heardFrom(server).filter((status) => status.state === "connected");
  if (well.length === 0) return "Nodes try again by themselves.";
  return `They try again by themselves; ${listed(well.map((status) => status.node))} ${well.length === 1 ? "goes" : "go"} on.`;
}

const MOST_NAMED = 4;

function Names({ tools }: { tools: readonly McpTool[] }) {
  return (
    <>
      {tools.slice(0, MOST_NAMED).map(({ name }, at) => (
        <span key={name}>
          {at > 0 && ", "}
          <code>{name}</code>
        </span>
      ))}
      {tools.length > MOST_NAMED && ` and ${tools.length - MOST_NAMED} more`}
    </>
  );
}
