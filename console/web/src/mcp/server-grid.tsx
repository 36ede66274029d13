/** The servers by node, one row each; a card each where there is little room. */

import { memo } from "react";
import type { HeardNode } from "../api/heard";
import type { McpServer } from "../api/mcp-types";
import { Glyph, Icon, type GlyphName } from "../design/glyph";
import { go, mcpPath } from "../shell/route";
import { useWalk } from "../shell/walk";
import { useReconnect, useRefresh } from "./orders";
import { RowMenu } from "./row-menu";
import { kindOf, needsLogin, standingOn } from "./standing";

const KEY: readonly [GlyphName, string][] = [
  ["up", "connected"],
  ["late", "slow"],
  ["lost", "down"],
  ["off", "not here"],
];

export interface Rights {
  /** Refreshes, reconnects, logs in. */
  operate: boolean;
  /** Accepts what changed. */
  approve: boolean;
  /** Adds, removes. */
  admin: boolean;
}

export interface Acts {
  onLogin: (name: string) => void;
  onRemove: (name: string) => void;
}

interface ServerGridProps extends Acts {
  servers: readonly McpServer[];
  nodes: readonly HeardNode[];
  selected: string;
  rights: Rights;
}

export function ServerGrid({ servers, nodes, selected, rights, onLogin, onRemove }: ServerGridProps) {
  const at = useWalk(
    servers.map((server) => server.name),
    (name) => go(mcpPath(name)),
    selected,
  );
  return (
    <section className="panel" aria-labelledby="h-grid">
      <header>
        <h2 id="h-grid">Server by node</h2>
        <span className="end">
          <span className="key">
            {KEY.map(([glyph, word]) => (
              <span key={word} className={`st st-${glyph}`}>
                <Glyph name={glyph} />
                {word}
              </span>
            ))}
          </span>
        </span>
      </header>
      <div className="scroll-x" role="group" aria-label="Server by node, scrolls sideways" tabIndex={0}>
        <table className="tbl inpanel mg">
          <caption className="vh">Servers by name, how each stands on every node</caption>
          <thead>
            <tr>
              <th scope="col">server</th>
              <th scope="col" className="num">
                tools
              </th>
              <th scope="col" className="num">
                <abbr title="resources">res.</abbr>
              </th>
              <th scope="col" className="num">
                prompts
              </th>
              {nodes.map((node) => (
                <th key={node.name} scope="col" className={node.state === "lost" ? "lostcol" : undefined}>
                  {node.name} {node.state === "lost" && <span className="tag bad">lost</span>}
                </th>
              ))}
              <th scope="col" className="act">
                <span className="vh">act</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <Row
                key={server.name}
                server={server}
                nodes={nodes}
                at={server.name === at}
                selected={server.name === selected}
                rights={rights}
                onLogin={onLogin}
                onRemove={onRemove}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface RowProps extends Acts {
  server: McpServer;
  nodes: readonly HeardNode[];
  at: boolean;
  selected: boolean;
  rights: Rights;
}

const Row = memo(function Row({ server, nodes, at, selected, rights, onLogin, onRemove }: RowProps) {
  const { name } = server;
  const login = needsLogin(server);
  return (
    <tr id={`row-${name}`} className={at ? "at" : undefined}>
      <td className="two">
        <span className="flex">
          <a className="name c-mcp clip" href={mcpPath(name)} aria-current={selected || undefined}>
            {name}
          </a>
          {server.changed > 0 && <span className="tag warn">{server.changed} changed</span>}
          {login && <span className="tag warn">log in</span>}
        </span>
        <small>{kindOf(server)}</small>
      </td>
      <td className="num" data-l="tools">
        {server.tools}
      </td>
      <td className="num" data-l="res.">
        {server.resources}
      </td>
      <td className="num" data-l="prompts">
        {server.prompts}
      </td>
      {nodes.map((node) => (
        <Cell key={node.name} server={server} node={node} />
      ))}
      <td className="act">
        <RowActs server={server} login={login} rights={rights} onLogin={onLogin} onRemove={onRemove} />
      </td>
    </tr>
  );
});

function Cell({ server, node }: { server: McpServer; node: HeardNode }) {
  const { glyph, words, beside } = standingOn(
    node,
    server.nodes.find((status) => status.node === node.name),
  );
  return (
    <td className={node.state === "lost" ? "cellm lostcol" : "cellm"} data-l={node.name}>
      <span className={`st st-${glyph}`}>
        <Glyph name={glyph} />
        {words}
      </span>
      <small title={beside}>{beside}</small>
    </td>
  );
}

function RowActs({ server, login, rights, onLogin, onRemove }: Acts & { server: McpServer; login: boolean; rights: Rights }) {
  const { name } = server;
  const refresh = useRefresh();
  const reconnect = useReconnect();
  const why = (verb: string) => (rights.operate ? verb : `${verb}: needs the scope operate`);
  return (
    <span className="btns">
      <button
        type="button"
        className="btn sm icon"
        disabled={!rights.operate}
        aria-label={`Refresh ${name} on all nodes`}
        title={why("Refresh")}
        aria-busy={refresh.isPending}
        onClick={() => refresh.mutate(name)}
      >
        {!refresh.isPending && <Icon name="refresh" />}
      </button>
      <button
        type="button"
        className="btn sm icon"
        disabled={!rights.operate}
        aria-label={`Reconnect ${name} on all nodes`}
        title={why("Reconnect")}
        aria-busy={reconnect.isPending}
        onClick={() => reconnect.mutate(name)}
      >
        {!reconnect.isPending && <Icon name="reconnect" />}
      </button>
      <RowMenu server={server} login={login} rights={rights} onLogin={onLogin} onRemove={onRemove} />
    </span>
  );
}
