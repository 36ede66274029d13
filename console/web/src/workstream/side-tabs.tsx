/** What stands beside the log: the files it touched, or its decisions. */

import type { KeyboardEvent } from "react";

export type Side = "files" | "audit";

interface SideTabsProps {
  side: Side;
  onSide: (side: Side) => void;
  files: number;
  decisions: number;
}

export function SideTabs({ side, onSide, files, decisions }: SideTabsProps) {
  const tabs: [Side, string, number][] = [
    ["files", "Files", files],
    ["audit", "Audit", decisions],
  ];
  const press = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const next = side === "files" ? "audit" : "files";
    onSide(next);
    document.getElementById(`side-${next}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Beside the log">
      {tabs.map(([name, label, count]) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`side-${name}`}
          aria-selected={side === name}
          aria-controls="side"
          tabIndex={side === name ? 0 : -1}
          onClick={() => onSide(name)}
          onKeyDown={press}
        >
          {label}
          <span className="n">{count}</span>
        </button>
      ))}
    </div>
  );
}
