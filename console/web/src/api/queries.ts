/** What the page asks the console for, and how long an answer holds. */

import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, read } from "./client";
import { namingOf } from "../design/naming";
import { heardOf } from "./heard";
import type { ClusterNode, Me, Overview, Page, Schedule, View } from "./types";

/** As many workstreams come with one page. */
export const PAGE_SIZE = 50;
const SCHEDULES_PAGE_SIZE = 100;
const NAMED = 200;

/** One cache for the page; a refusal is an answer, so only silence is tried again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: (count, error) => count < 2 && error instanceof ApiError && error.status === 0 },
  },
});

export const me = queryOptions({ queryKey: ["me"], queryFn: ({ signal }) => read<Me>("/v1/me", signal), staleTime: 60_000 });

export const overview = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => read<Overview>("/v1/cluster/overview", signal),
  refetchInterval: 3000,
  retry: false,
});

/** Every node that was heard of within the hour, by name; the cluster's stream brings news sooner. */
export const nodes = queryOptions({
  queryKey: ["nodes"],
  queryFn: async ({ signal }) => {
    const page = await read<Page<ClusterNode>>("/v1/cluster/nodes", signal);
    const now = Date.now();
    return page.items.map((node) => heardOf(node, now));
  },
  refetchInterval: 3000,
});

/** The first `limit` workstreams that match. */
export function glimpse(search: string, limit: number) {
  return queryOptions({
    queryKey: ["glimpse", search, limit],
    queryFn: ({ signal }) => read<Page<View>>(`/v1/workstreams?${search}&limit=${limit}`, signal),
    refetchInterval: 3000,
  });
}

/** What the newest workstreams are called, by id. */
export const namings = queryOptions({
  queryKey: ["namings"],
  queryFn: async ({ signal }) => {
    const page = await read<Page<View>>(`/v1/workstreams?limit=${NAMED}`, signal);
    return new Map(page.items.map((view) => [view.id, namingOf(view)]));
  },
  refetchInterval: 15_000,
});

/** Schedules and watches, page after page. */
export const schedules = infiniteQueryOptions({
  queryKey: ["schedules"],
  queryFn: ({ pageParam, signal }) => {
    const query = new URLSearchParams({ limit: String(SCHEDULES_PAGE_SIZE), ...(pageParam ? { cursor: pageParam } : {}) });
    return read<Page<Schedule>>(`/v1/schedules?${query.toString()}`, signal);
  },
  initialPageParam: "",
  getNextPageParam: (page: Page<Schedule>) => page.next_cursor,
  refetchInterval: 2000,
});

/** The workstreams that match, page after page; `search` is the query string without limit and cursor. */
export function workstreams(search: string) {
  return infiniteQueryOptions({
    queryKey: ["workstreams", search],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams(search);
      query.set("limit", String(PAGE_SIZE));
      if (pageParam) query.set("cursor", pageParam);
      return read<Page<View>>(`/v1/workstreams?${query.toString()}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: (page: Page<View>) => page.next_cursor,
    refetchInterval: 2000,
    placeholderData: (previous) => previous,
  });
}

/** One workstream as the console sees it now. */
export function workstream(id: string) {
  return queryOptions({
    queryKey: ["workstream", id],
    queryFn: ({ signal }) => read<View>(`/v1/workstreams/${encodeURIComponent(id)}`, signal),
  });
}
