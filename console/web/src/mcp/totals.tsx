/** All servers in figures, side by side. */

import type { McpServers } from "../api/mcp-types";
import { counted } from "../design/format";
import { Icon } from "../design/glyph";
import { inOneSentence, inTime } from "./standing";

export function Totals({ servers: { items, totals } }: { servers: McpServers }) {
  const { tools, offered, resources, templates, prompts, hour_calls: calls = 0, hour_errors: errors = 0, latency_ms: latency } = totals;
  const median = latency === null ? "" : `median ${inTime(latency)}, `;
  return (
    <section className="strip mcp-strip" aria-label="MCP totals">
      <div className="c-mcp">
        <span className="l c-mcp">
          <Icon name="mcp" className="i-sm" />
          Servers
        </span>
        <span className="f">{totals.servers}</span>
        <span className="d">{inOneSentence(items)}</span>
      </div>
      <div className="c-mcp">
        <span className="l">Tools</span>
        <span className="f">{tools}</span>
        <span className="d">{enabledOf(tools, offered)}</span>
      </div>
      <div className="c-mcp">
        <span className="l">Resources</span>
        <span className="f">{resources}</span>
        <span className="d">and {counted(templates, "template")}</span>
      </div>
      <div className="c-mcp">
        <span className="l">Prompts</span>
        <span className="f">{prompts}</span>
        <span className="d">shown as skills</span>
      </div>
      <div title={`${totals.calls.toLocaleString("en-GB")} since the nodes that are up began, ${counted(totals.errors, "error")}`}>
        <span className="l">Calls, last hour</span>
        <span className="f">{calls.toLocaleString("en-GB")}</span>
        <span className="d">
          {median}
          {counted(errors, "error")}
        </span>
      </div>
    </section>
  );
}

function enabledOf(tools: number, offered: number): string {
  if (offered === 0) return "none is known";
  return offered > tools ? `of ${offered} offered, ${offered - tools} not enabled` : "all that are offered";
}
