/** The keyboard: single keys that act outside fields, and can be turned off. */

import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";

export type KeyActions = Record<string, (event: KeyboardEvent) => void>;

/** A key held down walks on, but answers only once. */
const MAY_REPEAT: ReadonlySet<string> = new Set(["j", "k", "[", "]"]);
const KEY = "single-keys";
const readers = new Set<() => void>();
let singleKeys = stored();

/** Whether single keys act. */
export function useSingleKeys(): [boolean, (on: boolean) => void] {
  return [useSyncExternalStore(subscribe, () => singleKeys), setSingleKeys];
}

/**
 * Lets keys act as soon and as long as the caller is shown: `"a"`, `"Enter"`, two strokes as `"g w"`.
 * Never inside a field, under a dialog or with Ctrl, Alt or Meta held.
 */
export function useKeys(actions: KeyActions): void {
  const current = useRef(actions);
  useEffect(() => {
    current.current = actions;
  });
  useLayoutEffect(() => {
    let lead = "";
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !acts(event)) return;
      const act = current.current[lead ? `${lead} ${event.key}` : event.key];
      lead = event.key === "g" ? "g" : "";
      act?.(event);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

const TICKED: ReadonlySet<string> = new Set(["radio", "checkbox"]);

/** Whether the person is typing: what is only ticked takes no letters. */
export function isField(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !TICKED.has(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function acts(event: KeyboardEvent): boolean {
  if (event.repeat && !MAY_REPEAT.has(event.key)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return false;
  if (document.querySelector("dialog[open], [popover]:popover-open")) return false;
  if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.closest("a, button")) return false;
  return singleKeys || event.key === "Escape";
}

function setSingleKeys(on: boolean): void {
  singleKeys = on;
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    singleKeys = on;
  }
  for (const reader of readers) reader();
}

function stored(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => readers.delete(reader);
}
