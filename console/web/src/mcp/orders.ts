/** What a person orders of servers, with what came of it said. */

import { useMutation } from "@tanstack/react-query";
import { readAnew, reconnectServer, refreshServer, refreshServers } from "../api/mcp-queries";
import { say, sayError } from "../design/toast";
import { outcomeOf, outcomesOf } from "./standing";

/** Asks every node to list anew what the server offers. */
export function useRefresh() {
  return useMutation({
    mutationFn: refreshServer,
    onSuccess: (order) => say(outcomeOf(order)),
    onError: sayError,
    onSettled: readAnew,
  });
}

/** Asks every node to leave the server and to come back. */
export function useReconnect() {
  return useMutation({
    mutationFn: reconnectServer,
    onSuccess: (order) => say(outcomeOf(order)),
    onError: sayError,
    onSettled: readAnew,
  });
}

/** Asks the same of all servers at once. */
export function useRefreshAll() {
  return useMutation({
    mutationFn: refreshServers,
    onSuccess: ({ items }) => say(outcomesOf(items)),
    onError: sayError,
    onSettled: readAnew,
  });
}
