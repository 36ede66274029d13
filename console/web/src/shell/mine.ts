/** What waits for this person, whatever the page. */

import { useQuery } from "@tanstack/react-query";
import { waitingCounts } from "../api/decision-queries";
import { me } from "../api/queries";

/** Whether this person may answer approvals, questions; undefined until it is known who they are. */
export function useMayAnswer(): boolean | undefined {
  return useQuery(me).data?.scopes.includes("approve");
}

/** How many approvals and questions wait that this person may answer. */
export function useMine(): number {
  const may = useMayAnswer();
  const { data } = useQuery(waitingCounts);
  return may && data ? data.approvals + data.questions : 0;
}
