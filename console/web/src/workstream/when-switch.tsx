/** When the agent reads a message: after this turn, or at its next step. */

import { useRef, type KeyboardEvent } from "react";
import type { When } from "../api/types";
import { Icon } from "../design/glyph";

const CHOICES: { when: When; label: string }[] = [
  { when: "next", label: "Next" },
  { when: "steer", label: "Steer" },
];

export function WhenSwitch({ when, onWhen }: { when: When; onWhen: (when: When) => void }) {
  const group = useRef<HTMLDivElement>(null);
  const press = (event: KeyboardEvent) => {
    if (!/^Arrow/.test(event.key)) return;
    event.preventDefault();
    const other = when === "next" ? "steer" : "next";
    onWhen(other);
    group.current?.querySelector<HTMLElement>(`[data-when="${other}"]`)?.focus();
  };
  return (
    <div ref={group} className="seg" role="radiogroup" aria-label="When the agent reads it">
      {CHOICES.map((choice) => (
        <button
          key={choice.when}
          type="button"
          role="radio"
          data-when={choice.when}
          aria-checked={choice.when === when}
          tabIndex={choice.when === when ? 0 : -1}
          onClick={() => onWhen(choice.when)}
          onKeyDown={press}
        >
          <Icon name={choice.when} className="i-sm" />
          {choice.label}
        </button>
      ))}
    </div>
  );
}
