/** Where the detail stands below its list, choosing a row brings it into view. */

import { useEffect } from "react";

const ONE_COLUMN = "(max-width: 720px)";

/** Scrolls to the element of this id when a person chose another name, on the phone alone. */
export function usePhoneScroll(chosen: string, id: string): void {
  useEffect(() => {
    if (chosen && window.matchMedia(ONE_COLUMN).matches) document.getElementById(id)?.scrollIntoView({ block: "start" });
  }, [chosen, id]);
}
