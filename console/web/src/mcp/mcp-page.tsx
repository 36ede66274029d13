/** The servers that agents reach over MCP: how each stands on every node, what it offers. */

import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { HeardNode } from "../api/heard";
import { mcpServers, readAnew } from "../api/mcp-queries";
import type { McpServers } from "../api/mcp-types";
import { me } from "../api/queries";
import { useCluster } from "../cluster/use-cluster";
import { Bones } from "../design/bones";
import { counted } from "../design/format";
import { Icon } from "../design/glyph";
import { NotHere } from "../design/not-here";
import { usePhoneScroll } from "../design/phone-scroll";
import { Refused } from "../design/refused";
import { usePage } from "../shell/route";
import { AddDialog } from "./add-dialog";
import { LoginDialog } from "./login-dialog";
import { NoServer } from "./no-server";
import { useRefreshAll } from "./orders";
import { RemoveDialog } from "./remove-dialog";
import { ServerDetail } from "./server-detail";
import { ServerGrid, type Rights } from "./server-grid";
import { Totals } from "./totals";

type Layer = { kind: "add" } | { kind: "login" | "remove"; name: string } | null;

export function McpPage({ name }: { name: string }) {
  const { data, error, refetch } = useQuery(mcpServers);
  const { nodes } = useCluster();
  const rights = useRights();
  const [layer, setLayer] = useState<Layer>(null);
  const close = useCallback(() => setLayer(null), []);
  const onAdd = () => setLayer({ kind: "add" });
  useNews(nodes);
  usePage("mcp", "MCP");
  return (
    <>
      <Head servers={data} rights={rights} onAdd={onAdd} />
      {error && !data && <Refused error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Bones />}
      {data && data.items.length === 0 && <NoServer may={rights.admin} onAdd={onAdd} />}
      {data && data.items.length > 0 && (
        <Found servers={data} nodes={nodes ?? []} name={name} rights={rights} onLayer={setLayer} />
      )}
      <Dialogs layer={layer} servers={data} nodes={nodes ?? []} onClose={close} />
    </>
  );
}

interface DialogsProps {
  layer: Layer;
  servers: McpServers | undefined;
  nodes: readonly HeardNode[];
  onClose: () => void;
}

function Dialogs({ layer, servers, nodes, onClose }: DialogsProps) {
  switch (layer?.kind) {
    case "add":
      return <AddDialog nodes={nodes.filter((node) => node.state !== "lost").length} onClose={onClose} />;
    case "login":
      return <LoginDialog name={layer.name} onClose={onClose} />;
    case "remove": {
      const server = servers?.items.find((one) => one.name === layer.name);
      return server ? <RemoveDialog server={server} onClose={onClose} /> : null;
    }
    default:
      return null;
  }
}

function useRights(): Rights {
  const scopes = useQuery(me).data?.scopes ?? [];
  return { operate: scopes.includes("operate"), approve: scopes.includes("approve"), admin: scopes.includes("admin") };
}

/** Reads anew as soon as a node tells of a change, sooner than by asking now and then. */
function useNews(nodes: readonly HeardNode[] | undefined): void {
  const told = JSON.stringify(nodes?.map(newsOf) ?? []);
  useEffect(() => {
    void readAnew();
  }, [told]);
}

/** All but what differs from second to second. */
function newsOf({ name, state, report: { mcp, mcp_servers: servers = [] } }: HeardNode) {
  return [name, state, mcp, servers.map((server) => [server.name, server.state, server.since, server.tools])];
}

function Head({ servers, rights, onAdd }: { servers: McpServers | undefined; rights: Rights; onAdd: () => void }) {
  const refresh = useRefreshAll();
  const some = (servers?.total ?? 0) > 0;
  return (
    <header className="top">
      <h1>MCP</h1>
      {servers && some && (
        <span className="sub">
          {counted(servers.total, "server")}
          {servers.totals.changed > 0 && `, ${counted(servers.totals.changed, "tool")} changed`}
        </span>
      )}
      <div className="acts">
        <button
          type="button"
          className="btn"
          disabled={!some || !rights.operate}
          title={rights.operate ? "Refresh all" : "Refresh all: needs the scope operate"}
          aria-busy={refresh.isPending}
          onClick={() => refresh.mutate()}
        >
          <Icon name="refresh" />
          Refresh all
        </button>
        <button
          type="button"
          className="btn ink"
          disabled={!rights.admin}
          title={rights.admin ? "Add server" : "Adding servers needs the role admin"}
          onClick={onAdd}
        >
          <Icon name="plus" />
          Add server
        </button>
      </div>
    </header>
  );
}

interface FoundProps {
  servers: McpServers;
  nodes: readonly HeardNode[];
  name: string;
  rights: Rights;
  onLayer: (layer: Layer) => void;
}

function Found({ servers, nodes, name, rights, onLayer }: FoundProps) {
  const { items } = servers;
  const selected = items.find((server) => server.name === name) ?? items[0];
  const onLogin = useCallback((server: string) => onLayer({ kind: "login", name: server }), [onLayer]);
  const onRemove = useCallback((server: string) => onLayer({ kind: "remove", name: server }), [onLayer]);
  const unknown = name !== "" && selected?.name !== name;
  usePhoneScroll(unknown ? "" : name, "h-server");
  return (
    <div className="body">
      {unknown && <NotHere what="server" name={name} />}
      <Totals servers={servers} />
      <ServerGrid
        servers={items}
        nodes={nodes}
        selected={selected?.name ?? ""}
        rights={rights}
        onLogin={onLogin}
        onRemove={onRemove}
      />
      {selected && <ServerDetail key={selected.name} server={selected} rights={rights} onLogin={onLogin} onRemove={onRemove} />}
    </div>
  );
}
