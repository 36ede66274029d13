/** What the page asks of MCP servers, and what a person can order. All orders throw ApiError. */

import { queryOptions } from "@tanstack/react-query";
import { read, remove, write } from "./client";
import type {
  McpAccount,
  McpCatalogEntry,
  McpDetail,
  McpLogin,
  McpOrder,
  McpServer,
  McpServers,
  McpSlot,
  NewMcpServer,
} from "./mcp-types";
import { queryClient } from "./queries";
import type { Page } from "./types";

const ROOT = "/v1/mcp/servers";
const MOST = 200;
const at = (name: string, verb = "") => `${ROOT}/${encodeURIComponent(name)}${verb && `/${verb}`}`;

/** Every server by name, page after page in one; a node's news brings it sooner. */
export const mcpServers = queryOptions({
  queryKey: ["mcp", "servers"],
  queryFn: async ({ signal }) => {
    const whole: McpServers = await read<McpServers>(`${ROOT}?limit=${MOST}`, signal);
    for (let cursor = whole.next_cursor; cursor !== null; ) {
      const page: McpServers = await read<McpServers>(`${ROOT}?limit=${MOST}&cursor=${encodeURIComponent(cursor)}`, signal);
      whole.items.push(...page.items);
      cursor = page.next_cursor;
    }
    return whole;
  },
  refetchInterval: 3000,
});

/** How many servers there are, whatever the page. */
export const mcpCount = queryOptions({
  queryKey: ["mcp", "count"],
  queryFn: async ({ signal }) => (await read<McpServers>(`${ROOT}?limit=1`, signal)).total,
  refetchInterval: 15_000,
});

/** One server with all that it offers. */
export function mcpServer(name: string) {
  return queryOptions({
    queryKey: ["mcp", "server", name],
    queryFn: ({ signal }) => read<McpDetail>(at(name), signal),
    refetchInterval: 3000,
    enabled: name !== "",
  });
}

/** Who is logged in to a server of OAuth, without any token. */
export function mcpAccount(name: string, everyMs: number) {
  return queryOptions({
    queryKey: ["mcp", "account", name],
    queryFn: ({ signal }) => read<McpAccount>(at(name, "login"), signal),
    refetchInterval: everyMs,
  });
}

/** Servers that Redshank knows how to start. */
export const mcpCatalog = queryOptions({
  queryKey: ["mcp-catalog"],
  queryFn: async ({ signal }) => (await read<{ items: McpCatalogEntry[] }>("/v1/mcp/catalog", signal)).items,
  staleTime: 60_000,
});

/** The slots that servers name, with what is in them. An admin's alone. */
export const mcpSlots = queryOptions({
  queryKey: ["mcp", "slots"],
  queryFn: async ({ signal }) => (await read<Page<McpSlot>>("/v1/mcp/slots", signal)).items,
  refetchInterval: 5000,
});

/** The names of slots that hold a value. An admin's alone, who may add servers. */
export const filledSlots = queryOptions({
  queryKey: ["filled-slots"],
  queryFn: async ({ signal }) => {
    const page = await read<Page<{ slot: string; state: "live" | "revoked" }>>("/v1/secrets?limit=200", signal);
    return page.items.flatMap(({ slot, state }) => (state === "live" ? [slot] : []));
  },
});

/** Whatever is shown of servers is read anew. */
export const readAnew = () => queryClient.invalidateQueries({ queryKey: ["mcp"] });

export const addServer = (body: NewMcpServer) => write<McpServer>(ROOT, body);
export const removeServer = (name: string) => remove<object>(at(name));
export const refreshServer = (name: string) => write<McpOrder>(at(name, "refresh"));
export const reconnectServer = (name: string) => write<McpOrder>(at(name, "reconnect"));
export const refreshServers = () => write<{ items: McpOrder[] }>("/v1/mcp/refresh");
export const beginLogin = (name: string) => write<McpLogin>(at(name, "login"));
export const endLogin = (name: string) => write<object>(at(name, "logout"));
export const acceptTool = (name: string, tool: string, digest: string) =>
  write<object>(at(name, "tools/accept"), { tool, digest });
