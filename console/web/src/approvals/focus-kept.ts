/** Keeps the focus in the page when what has it goes away. */

import { useLayoutEffect, type RefObject } from "react";

export function useFocusKept(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (element?.contains(document.activeElement)) document.getElementById("main")?.focus({ preventScroll: true });
    };
  }, [card]);
}
