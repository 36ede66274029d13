/** The list's filter: chips and words in the field, the same in the address, the same for the console. */

import { NEEDS_ME } from "../shell/route";

export const FILTER_KEYS = ["state", "waiting_for", "owner", "node", "label"] as const;
export type FilterKey = (typeof FILTER_KEYS)[number];

export interface Chip {
  key: FilterKey;
  value: string;
}

export interface Filter {
  chips: Chip[];
  words: string;
}

/** The filter that an address holds. */
export function parseFilter(search: string): Filter {
  const query = new URLSearchParams(search);
  const chips = FILTER_KEYS.flatMap((key) => {
    const value = query.get(key);
    return value ? [{ key, value }] : [];
  });
  return { chips, words: query.get("q") ?? "" };
}

/** The address that holds a filter. */
export function searchOf({ chips, words }: Filter): string {
  const query = new URLSearchParams(chips.map(({ key, value }) => [key, value]));
  if (words) query.set("q", words);
  return query.toString();
}

/** What the console is asked for a list's address. */
export function querySearch(search: string): string {
  return search === NEEDS_ME ? "waiting_for=approval" : search;
}

/** The filter with what was typed: `state:running` becomes a chip, all else words. A chip takes its key's place. */
export function withTyped(filter: Filter, typed: string): Filter {
  const chips = new Map(filter.chips.map((chip) => [chip.key, chip]));
  const words: string[] = [];
  for (const part of typed.split(/\s+/).filter(Boolean)) {
    const chip = chipOf(part);
    if (chip) chips.set(chip.key, chip);
    else words.push(part);
  }
  return { chips: [...chips.values()], words: words.join(" ") };
}

/** The chip that a typed part stands for, if it does. */
export function chipOf(part: string): Chip | null {
  const [name, ...rest] = part.split(":");
  const key = FILTER_KEYS.find((one) => one === name);
  const value = rest.join(":");
  return key && value ? { key, value } : null;
}
