/** One server in full: what is wrong with it, what it offers, how it is described. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mcpServer } from "../api/mcp-queries";
import type { McpServer } from "../api/mcp-types";
import { Icon } from "../design/glyph";
import { Refused } from "../design/refused";
import { LastChanges } from "./last-changes";
import { Offers } from "./offers";
import { useReconnect, useRefresh } from "./orders";
import { RecordPanel } from "./record-panel";
import { whyNot } from "./row-menu";
import type { Acts, Rights } from "./server-grid";
import { ToolDialog } from "./tool-dialog";
import { Troubles } from "./troubles";

interface ServerDetailProps extends Acts {
  server: McpServer;
  rights: Rights;
}

export function ServerDetail({ server, rights, onLogin, onRemove }: ServerDetailProps) {
  const { data, error, refetch } = useQuery(mcpServer(server.name));
  const [shown, setShown] = useState<string | null>(null);
  const tools = data?.tools_list ?? [];
  const tool = tools.find((one) => one.name === shown);
  const changed = tools.filter((one) => one.changed !== null);
  return (
    <div className="mcp-grid">
      <section className="panel" aria-labelledby="h-server">
        <Head server={server} rights={rights} onRemove={onRemove} />
        <Troubles
          server={server}
          changed={changed}
          may={rights.operate}
          onLogin={() => onLogin(server.name)}
          onCompare={() => setShown(changed[0]?.name ?? null)}
        />
        {error && !data && <Refused error={error} onRetry={() => void refetch()} />}
        {data && <Offers detail={data} onTool={setShown} />}
      </section>
      <div className="mcp-side">
        <LastChanges server={server} />
        {data && <RecordPanel detail={data} may={rights.operate} />}
      </div>
      {tool && (
        <ToolDialog
          key={tool.name}
          server={server.name}
          tool={tool}
          may={rights.approve}
          onAccepted={() => setShown(changed.find((one) => one.name !== tool.name)?.name ?? null)}
          onClose={() => setShown(null)}
        />
      )}
    </div>
  );
}

function Head({ server, rights, onRemove }: Omit<ServerDetailProps, "onLogin">) {
  const { name, address, origin } = server;
  const refresh = useRefresh();
  const reconnect = useReconnect();
  const why = rights.operate ? undefined : "Needs the scope operate";
  const settled = origin === "settings" || !rights.admin;
  return (
    <header>
      <h2 id="h-server" className="mono c-mcp">
        {name}
      </h2>
      <span className="n mono clip" title={address}>
        {address}
      </span>
      <span className="end">
        <button
          type="button"
          className="btn sm"
          disabled={!rights.operate}
          title={why}
          aria-busy={refresh.isPending}
          onClick={() => refresh.mutate(name)}
        >
          <Icon name="refresh" />
          Refresh
        </button>
        <button
          type="button"
          className="btn sm"
          disabled={!rights.operate}
          title={why}
          aria-busy={reconnect.isPending}
          onClick={() => reconnect.mutate(name)}
        >
          <Icon name="reconnect" />
          Reconnect
        </button>
        <button
          type="button"
          className="btn sm no"
          disabled={settled}
          title={settled ? whyNot(origin, rights.admin) : undefined}
          onClick={() => onRemove(name)}
        >
          Remove
        </button>
      </span>
    </header>
  );
}
