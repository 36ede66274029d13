/** The first of many, with a way to all of them. */

import { useState, type ReactNode } from "react";

const ENOUGH = 100;

interface EnoughProps<Item> {
  items: readonly Item[];
  /** The items that are shown, in their table. */
  children: (items: readonly Item[]) => ReactNode;
}

export function Enough<Item>({ items, children }: EnoughProps<Item>) {
  const [all, setAll] = useState(false);
  return (
    <>
      {children(all ? items : items.slice(0, ENOUGH))}
      {!all && items.length > ENOUGH && (
        <p className="mcp-more">
          <button type="button" className="btn sm" onClick={() => setAll(true)}>
            Show all {items.length}
          </button>
        </p>
      )}
    </>
  );
}
