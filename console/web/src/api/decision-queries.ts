/** What the page asks the console for about decisions, and how long an answer holds. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { read } from "./client";
import { matrix as askMatrix } from "./commands";
import type { Audit, CallDecision, DecidedItem, InboxItem, Profile, QuestionItem, Rule, Standpoint } from "./decision-types";
import type { AnyEvent } from "./events";
import type { Page, View } from "./types";

const INBOX_PAGE = 50;
const AUDIT_PAGE = 100;
const MOST_RULES = 200;
const LIVELY_MS = 2000;
/** As many events before the end hold what led to a call that waits. */
const TAIL_EVENTS = 200;

function paged<Item>(key: readonly string[], path: string, limit: number, refetchInterval: number) {
  return infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(pageParam ? { cursor: pageParam } : {}) });
      return read<Page<Item>>(`${path}?${query.toString()}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: (page: Page<Item>) => page.next_cursor,
    refetchInterval,
  });
}

/** Approvals that wait, oldest first, page after page. */
export const inbox = paged<InboxItem>(["inbox", "approvals"], "/v1/approvals", INBOX_PAGE, LIVELY_MS);

/** Approvals that wait no more, decided last first, page after page. */
export const decided = paged<DecidedItem>(["inbox", "decided"], "/v1/approvals/decided", INBOX_PAGE, 5000);

/** Questions that wait, oldest first, page after page. */
export const questions = paged<QuestionItem>(["inbox", "questions"], "/v1/questions", INBOX_PAGE, LIVELY_MS);

/** How many approvals and questions wait in the whole cluster. */
export const waitingCounts = queryOptions({
  queryKey: ["inbox", "counts"],
  queryFn: async ({ signal }) => {
    const [approvals, asked] = await Promise.all([
      read<Page<InboxItem>>("/v1/approvals?limit=1", signal),
      read<Page<QuestionItem>>("/v1/questions?limit=1", signal),
    ]);
    return { approvals: approvals.total, questions: asked.total };
  },
  refetchInterval: 3000,
  retry: false,
});

/** Every decision of a workstream, in order, page after page. */
export function audits(id: string) {
  const path = `/v1/workstreams/${encodeURIComponent(id)}/permission-audits`;
  return paged<Audit>(["audits", id], path, AUDIT_PAGE, 5000);
}

/** The decisions on one call, wherever it was made. */
export function decisionsOn(call: string) {
  return queryOptions({
    queryKey: ["decisions", call],
    queryFn: ({ signal }) => read<Page<CallDecision>>(`/v1/permissions/decisions?call=${encodeURIComponent(call)}`, signal),
    refetchInterval: LIVELY_MS,
  });
}

/** A workstream with its newest events: what led to a call that waits there; once it is `settled`, what became of it. */
export function tail(id: string, settled: boolean) {
  return queryOptions({
    queryKey: ["tail", id, settled],
    queryFn: async ({ signal }) => {
      const path = `/v1/workstreams/${encodeURIComponent(id)}`;
      const view = await read<View>(path, signal);
      const after = Math.max(0, view.last_seq - TAIL_EVENTS);
      const page = await read<{ items: AnyEvent[] }>(`${path}/events?after=${after}&limit=${TAIL_EVENTS}`, signal);
      return { view, events: page.items };
    },
    refetchInterval: settled ? LIVELY_MS : false,
    placeholderData: (previous) => previous,
  });
}

/** The stored rules, all pages of them. */
export const rules = queryOptions({
  queryKey: ["rules"],
  queryFn: async ({ signal }) => {
    const found: Rule[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query = new URLSearchParams({ limit: String(MOST_RULES), ...(cursor ? { cursor } : {}) });
      const page: Page<Rule> = await read<Page<Rule>>(`/v1/permissions/rules?${query.toString()}`, signal);
      found.push(...page.items);
      cursor = page.next_cursor;
    }
    return found;
  },
  refetchInterval: 5000,
});

export const profiles = queryOptions({
  queryKey: ["profiles"],
  queryFn: ({ signal }) => read<Page<Profile>>("/v1/profiles?limit=200", signal),
  staleTime: 60_000,
});

/** What every mode makes of every tool, as things stand now. */
export function matrix(standpoint: Standpoint) {
  return queryOptions({
    queryKey: ["matrix", standpoint],
    queryFn: () => askMatrix(standpoint),
    refetchInterval: 5000,
    placeholderData: (previous) => previous,
  });
}
