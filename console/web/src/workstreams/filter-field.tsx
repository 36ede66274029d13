/** The field that narrows the list: chips, then words. */

import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Icon } from "../design/glyph";
import { useKeys } from "../shell/keys";
import { chipOf, type Filter, withTyped } from "./filter";

const PAUSE_MS = 250;

export function FilterField({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [typed, setTyped] = useState(filter.words);
  const [known, setKnown] = useState(filter.words);
  if (known !== filter.words) {
    setKnown(filter.words);
    if (typed.trim() !== filter.words) setTyped(filter.words);
  }
  useKeys({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
    },
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (text: string) => {
    clearTimeout(timer.current);
    const next = withTyped(filter, text);
    setTyped(next.words);
    onChange(next);
  };
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    if (/\s$/.test(text) && text.trim().split(/\s+/).some(chipOf)) apply(text);
    else if (!text.includes(":")) timer.current = setTimeout(() => onChange({ ...filter, words: text.trim() }), PAUSE_MS);
  };
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") apply(typed);
    if (event.key === "Escape") event.currentTarget.blur();
    if (event.key === "Backspace" && typed === "") onChange({ ...filter, chips: filter.chips.slice(0, -1) });
  };
  return (
    <div className="filter">
      <Icon name="search" className="i-sm faint" />
      {filter.chips.map(({ key, value }) => (
        <span className="chip" key={key}>
          <span className="k">{key}:</span>
          <span className="v">{value}</span>
          <button
            type="button"
            aria-label={`Remove ${key}`}
            onClick={() => onChange({ ...filter, chips: filter.chips.filter((chip) => chip.key !== key) })}
          >
            <Icon name="x" />
          </button>
        </span>
      ))}
      <input
        ref={field}
        type="text"
        aria-label="Filter workstreams"
        placeholder="Words, or state: owner: node: label:"
        value={typed}
        onChange={(event) => type(event.target.value)}
        onKeyDown={press}
      />
      <kbd>/</kbd>
    </div>
  );
}
