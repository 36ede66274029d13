/** Servers that Redshank knows how to start, to begin from. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mcpCatalog } from "../api/mcp-queries";
import type { McpCatalogEntry } from "../api/mcp-types";
import { Icon } from "../design/glyph";

interface CatalogProps {
  /** The name of the entry that was picked; empty for another server. */
  picked: string;
  onPick: (entry: McpCatalogEntry | null) => void;
}

export function Catalog({ picked, onPick }: CatalogProps) {
  const { data: entries = [] } = useQuery(mcpCatalog);
  const [typed, setTyped] = useState("");
  const wanted = typed.trim().toLowerCase();
  const found = entries.filter((one) => `${one.name} ${one.title} ${one.description}`.toLowerCase().includes(wanted));
  return (
    <div className="cat">
      <div className="filter">
        <Icon name="search" className="i-sm faint" />
        <input
          type="text"
          aria-label="Find in the catalog"
          placeholder={`Find in ${entries.length} known servers`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <ul aria-label="Catalog">
        <li>
          <button type="button" aria-pressed={picked === ""} onClick={() => onPick(null)}>
            <span className="strong">Another server</span>
            <small>By address or command.</small>
          </button>
        </li>
        {found.map((entry) => (
          <li key={entry.name}>
            <button type="button" aria-pressed={picked === entry.name} onClick={() => onPick(entry)}>
              <span className="mono strong clip">{entry.name}</span>
              <span className="flex">
                <span className="tag">{entry.transport}</span>
                {entry.slots.length > 0 && <span className="tag">{proofOf(entry.record)}</span>}
              </span>
              <small>{entry.description}</small>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function proofOf(record: Record<string, unknown>): string {
  if (record["oauth_slot_ref"]) return "oauth";
  return record["bearer_token_secret_ref"] ? "bearer" : "slot";
}
