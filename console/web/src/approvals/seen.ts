/** What stood in an inbox since the page was opened: what was answered meanwhile stays, to say by whom. */

export interface Waiting {
  call_id: string;
  /** Another where the same call is asked about anew. */
  request_id: string;
}

export interface Seen<Item extends Waiting> {
  item: Item;
  /** It waits no more. */
  gone: boolean;
}

/** The list with what waits now, each in the place where it first stood; the same list where nothing changed. */
export function withPresent<Item extends Waiting>(seen: readonly Seen<Item>[], present: readonly Item[]): readonly Seen<Item>[] {
  const waiting = new Map(present.map((item) => [item.call_id, item]));
  const kept = seen.map((one) => {
    const now = waiting.get(one.item.call_id);
    waiting.delete(one.item.call_id);
    const same = now === undefined || now.request_id === one.item.request_id;
    if (same && (now === undefined) === one.gone) return one;
    return { item: now ?? one.item, gone: now === undefined };
  });
  const added = [...waiting.values()].map((item) => ({ item, gone: false }));
  return added.length > 0 || kept.some((one, at) => one !== seen[at]) ? [...kept, ...added] : seen;
}

/** The call to stand at after this one was answered: the next that waits, else the one before it, else none. */
export function nextOf<Item extends Waiting>(seen: readonly Seen<Item>[], call: string): string {
  const at = seen.findIndex((one) => one.item.call_id === call);
  const waits = (one: Seen<Item>) => !one.gone && one.item.call_id !== call;
  return (seen.slice(at + 1).find(waits) ?? seen.slice(0, Math.max(0, at)).findLast(waits))?.item.call_id ?? "";
}
