/** The theme: the system's, light or dark; kept for the next visit. */

import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const ORDER: readonly Theme[] = ["system", "light", "dark"];
const KEY = "theme";
const readers = new Set<() => void>();
let theme: Theme = "system";

/** Takes up what was kept. */
export function startTheme(): void {
  const kept = stored();
  show(ORDER.find((one) => one === kept) ?? "system");
}

/** System, then light, then dark. */
export function nextTheme(): void {
  show(ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "system");
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    return;
  }
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => theme);
}

function show(next: Theme): void {
  theme = next;
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  for (const reader of readers) reader();
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => readers.delete(reader);
}
