/** How a server is described: its own fields, the state of its slots, never a secret. */

import { useQuery } from "@tanstack/react-query";
import { mcpSlots } from "../api/mcp-queries";
import type { McpDetail, McpSlot } from "../api/mcp-types";
import { me } from "../api/queries";
import { fullTime } from "../design/format";
import { Account } from "./account";
import { factsOf } from "./record";

export function RecordPanel({ detail, may }: { detail: McpDetail; may: boolean }) {
  const { added_by: by, added_at: at, origin, protocol, title } = detail;
  const slots = useSlots(detail.name);
  const facts: [string, string][] = [
    ...(title ? ([["Says it is", title]] as [string, string][]) : []),
    ...(protocol ? ([["Protocol", protocol]] as [string, string][]) : []),
    ["From", origin === "settings" ? "the settings of the nodes" : `${by}, ${fullTime(at)}`],
    ...factsOf(detail.record),
  ];
  return (
    <section className="panel" aria-labelledby="h-record">
      <header>
        <h2 id="h-record">Record</h2>
        <span className="end">secrets masked</span>
      </header>
      <dl className="facts left mcp-record">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd>
              {value} <InSlots value={value} slots={slots} />
            </dd>
          </div>
        ))}
      </dl>
      {detail.auth === "oauth" && <Account name={detail.name} may={may} />}
    </section>
  );
}

/** For an admin, who alone may see which slots are filled. */
function useSlots(server: string): McpSlot[] {
  const admin = useQuery(me).data?.scopes.includes("admin") ?? false;
  const { data } = useQuery({ ...mcpSlots, enabled: admin });
  return (data ?? []).filter((slot) => slot.server === server);
}

/** What is in the slots that a value names. */
function InSlots({ value, slots }: { value: string; slots: readonly McpSlot[] }) {
  const named = slots.filter(({ slot }) => value.split(/[\s,=]+/).includes(slot));
  return named.map(({ slot, state }) => (
    <span key={slot} className={state === "set" ? "tag good" : "tag warn"} title={slot}>
      {named.length > 1 ? `${slot} ${state}` : state}
    </span>
  ));
}
