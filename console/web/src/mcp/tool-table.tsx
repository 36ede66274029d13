/** A server's tools, those that changed first. */

import type { McpDetail, McpTool } from "../api/mcp-types";
import { EffectIcon } from "../design/effect-icon";
import { listed } from "../nodes/versions";
import { Badge } from "../permissions/badge";
import { Enough } from "./enough";
import { heardFrom, isEnabled } from "./standing";

interface ToolTableProps {
  detail: McpDetail;
  onTool: (name: string) => void;
}

export function ToolTable({ detail, onTool }: ToolTableProps) {
  const { tools_list: tools, record } = detail;
  const sorted = [...tools.filter((tool) => tool.changed), ...tools.filter((tool) => !tool.changed)];
  const reached = heardFrom(detail).filter((status) => status.state === "connected").length;
  if (tools.length === 0) return <p className="pad3 muted">No tool of it is known.</p>;
  return (
    <Enough items={sorted}>
      {(shown) => (
        <table className="tbl inpanel mt">
          <caption className="vh">Tools</caption>
          <thead>
            <tr>
              <th scope="col" className="c-name">
                tool
              </th>
              <th scope="col">says of itself, untrusted</th>
              <th scope="col" className="c-rule">
                rule
              </th>
              <th scope="col" className="c-on">
                use
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((tool) => (
              <Row
                key={tool.name}
                tool={tool}
                on={isEnabled(record, tool.name)}
                everywhere={tool.nodes.length >= reached}
                onOpen={() => onTool(tool.name)}
              />
            ))}
          </tbody>
        </table>
      )}
    </Enough>
  );
}

interface RowProps {
  tool: McpTool;
  on: boolean;
  /** Whether every node that reaches the server has it. */
  everywhere: boolean;
  onOpen: () => void;
}

function Row({ tool, on, everywhere, onOpen }: RowProps) {
  const { name, exposed, description, decision, changed, nodes } = tool;
  const use = on ? "enabled" : "not enabled";
  return (
    <tr className={on ? undefined : "off"}>
      <td className="c-name">
        <span className="flex">
          <EffectIcon effect="mcp" tool={exposed} />
          <button type="button" className="open name c-mcp" title={exposed} onClick={onOpen}>
            {name}
          </button>
          {changed && <span className="tag warn">changed</span>}
        </span>
      </td>
      <td className="muted clip" title={description}>
        {firstLine(description)}
      </td>
      <td className="c-rule">
        <Badge decision={decision} />
      </td>
      <td className="c-on muted">
        {use}
        {!everywhere && (
          <small className="sub2" title={`Only on ${listed(nodes)}`}>
            only on {listed(nodes)}
          </small>
        )}
      </td>
    </tr>
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
