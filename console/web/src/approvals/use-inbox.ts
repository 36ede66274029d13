/** An inbox with what was answered since the page was opened. */

import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query";
import { useState } from "react";
import { inbox, questions } from "../api/decision-queries";
import type { InboxItem, QuestionItem } from "../api/decision-types";
import type { Page } from "../api/types";
import { withPresent, type Seen, type Waiting } from "./seen";

export interface Inbox<Item extends Waiting> {
  seen: readonly Seen<Item>[];
  /** How many wait in the whole cluster; undefined until the console told. */
  total: number | undefined;
  error: Error | null;
  retry: () => void;
  /** Gets more of them, where there are more. */
  more: (() => void) | undefined;
}

export function useApprovals(): Inbox<InboxItem> {
  const query = useInfiniteQuery(inbox);
  const next = query.hasNextPage ? () => void query.fetchNextPage() : undefined;
  return { ...useSeen(query.data), error: query.error, retry: () => void query.refetch(), more: next };
}

export function useQuestions(): Inbox<QuestionItem> {
  const query = useInfiniteQuery(questions);
  const next = query.hasNextPage ? () => void query.fetchNextPage() : undefined;
  return { ...useSeen(query.data), error: query.error, retry: () => void query.refetch(), more: next };
}

function useSeen<Item extends Waiting>(data: InfiniteData<Page<Item>> | undefined) {
  const [seen, setSeen] = useState<readonly Seen<Item>[]>([]);
  const present = data?.pages.flatMap((page) => page.items);
  const now = present ? withPresent(seen, present) : seen;
  if (now !== seen) setSeen(now);
  return { seen: now, total: data?.pages[0]?.total };
}
