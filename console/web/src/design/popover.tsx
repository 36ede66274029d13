/** A layer that stands at its button, inside the window. */

import { useEffect, useRef, type ReactNode } from "react";

interface PopoverProps {
  id: string;
  className: "pop" | "menu";
  label?: string;
  children: ReactNode;
}

/** Opened by a button whose popoverTarget names it; Esc and a click elsewhere close it. A menu closes on its click. */
export function Popover({ id, className, label, children }: PopoverProps) {
  const layer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = layer.current;
    if (!element) return;
    const place = (event: Event) => {
      if ((event as ToggleEvent).newState === "open") standAtButton(element);
    };
    const close = () => element.hidePopover();
    element.addEventListener("toggle", place);
    if (className === "menu") element.addEventListener("click", close);
    return () => {
      element.removeEventListener("toggle", place);
      element.removeEventListener("click", close);
    };
  }, [className]);
  return (
    <div ref={layer} id={id} popover="auto" className={className} role={label ? "dialog" : undefined} aria-label={label}>
      {children}
    </div>
  );
}

function standAtButton(layer: HTMLElement): void {
  const button = document.querySelector(`[popovertarget="${CSS.escape(layer.id)}"]`)?.getBoundingClientRect();
  if (!button) return;
  const { offsetWidth: width, offsetHeight: height } = layer;
  const below = button.bottom + 6 + height <= window.innerHeight;
  layer.style.left = `${Math.max(8, Math.min(button.left, window.innerWidth - width - 8))}px`;
  layer.style.top = `${below ? button.bottom + 6 : Math.max(8, button.top - height - 6)}px`;
}
