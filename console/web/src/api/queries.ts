/** What the page asks the console for, and how long an answer holds. */

import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, read } from "./client";
import type { Me, Overview, Page, View } from "./types";

/** As many workstreams come with one page. */
export const PAGE_SIZE = 50;

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
