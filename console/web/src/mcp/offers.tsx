/** What a server offers, a kind at a time. */

import { useState, type KeyboardEvent, type ReactNode } from "react";
import type { McpDetail } from "../api/mcp-types";
import { Enough } from "./enough";
import { ToolTable } from "./tool-table";

type Kind = "tools" | "resources" | "prompts" | "dropped" | "said";

interface OffersProps {
  detail: McpDetail;
  onTool: (name: string) => void;
}

export function Offers({ detail, onTool }: OffersProps) {
  const [kind, setKind] = useState<Kind>("tools");
  const said = Object.entries(detail.warnings).filter(([, lines]) => lines.length > 0);
  const kinds: [Kind, string, number][] = [
    ["tools", "Tools", detail.tools_list.length],
    ["resources", "Resources", detail.resources_list.length],
    ["prompts", "Prompts", detail.prompts_list.length],
    ["dropped", "Left out", detail.dropped.length],
    ["said", "Its own words", said.length + (detail.instructions ? 1 : 0)],
  ];
  const open = kinds.filter(([name, , count]) => count > 0 || name === "tools");
  const shown = open.some(([name]) => name === kind) ? kind : "tools";
  return (
    <>
      <Tabs kinds={open} shown={shown} onShow={setKind} />
      <div id="mcp-offers" role="tabpanel" aria-labelledby={`mcp-tab-${shown}`}>
        {shown === "tools" && <ToolTable detail={detail} onTool={onTool} />}
        {shown === "resources" && (
          <Enough key={shown} items={detail.resources_list}>
            {(resources) => (
              <Table label="Resources" heads={["resource", "says of itself, untrusted", "kind"]}>
                {resources.map(({ uri, name, description, media_type: media, is_template: template }) => (
                  <Line key={uri} name={uri} words={description || name} beside={template ? "template" : media} />
                ))}
              </Table>
            )}
          </Enough>
        )}
        {shown === "prompts" && (
          <Enough key={shown} items={detail.prompts_list}>
            {(prompts) => (
              <Table label="Prompts" heads={["prompt", "says of itself, untrusted", "arguments"]}>
                {prompts.map(({ name, exposed, description, arguments: takes }) => (
                  <Line key={name} name={name} title={exposed} words={description} beside={takes.map(argument).join(", ")} />
                ))}
              </Table>
            )}
          </Enough>
        )}
        {shown === "dropped" && (
          <Enough key={shown} items={detail.dropped}>
            {(dropped) => (
              <Table label="Left out" heads={["name", "why nobody can use it"]}>
                {dropped.map(({ name, why }) => (
                  <Line key={`${name} ${why}`} name={name} words={why} />
                ))}
              </Table>
            )}
          </Enough>
        )}
        {shown === "said" && <OwnWords instructions={detail.instructions} said={said} />}
      </div>
    </>
  );
}

const argument = ({ name, required }: { name: string; required: boolean }) => (required ? name : `${name}?`);

interface TabsProps {
  kinds: readonly [Kind, string, number][];
  shown: Kind;
  onShow: (kind: Kind) => void;
}

function Tabs({ kinds, shown, onShow }: TabsProps) {
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = kinds.findIndex(([name]) => name === shown);
    const next = step && kinds[(at + step + kinds.length) % kinds.length];
    if (!next) return;
    event.preventDefault();
    onShow(next[0]);
    document.getElementById(`mcp-tab-${next[0]}`)?.focus();
  };
  return (
    <div className="tabs mcp-tabs" role="tablist" aria-label="What it offers">
      {kinds.map(([name, label, count]) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`mcp-tab-${name}`}
          aria-selected={shown === name}
          aria-controls="mcp-offers"
          tabIndex={shown === name ? 0 : -1}
          onClick={() => onShow(name)}
          onKeyDown={press}
        >
          {label}
          <span className="n">{count}</span>
        </button>
      ))}
    </div>
  );
}

function Table({ label, heads, children }: { label: string; heads: readonly string[]; children: ReactNode }) {
  return (
    <table className="tbl inpanel mt">
      <caption className="vh">{label}</caption>
      <thead>
        <tr>
          {heads.map((head, at) => (
            <th key={head} scope="col" className={["c-name", "", "c-beside"][at]}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

interface LineProps {
  name: string;
  title?: string;
  words: string;
  beside?: string;
}

function Line({ name, title = name, words, beside }: LineProps) {
  return (
    <tr>
      <td className="name c-mcp" title={title}>
        {name}
      </td>
      <td className="muted clip" title={words}>
        {words}
      </td>
      {beside !== undefined && (
        <td className="faint clip c-beside" title={beside}>
          {beside}
        </td>
      )}
    </tr>
  );
}

/** Instructions of the server, lines that were no message. */
function OwnWords({ instructions, said }: { instructions: string; said: readonly [string, readonly string[]][] }) {
  return (
    <div className="pad3">
      {instructions && (
        <div className="stack">
          <h3>Instructions, untrusted</h3>
          <pre className="mcp-untrusted" tabIndex={0} role="group" aria-label="Instructions">{instructions}</pre>
        </div>
      )}
      {said.map(([node, lines]) => (
        <div key={node} className="stack">
          <h3>
            Not a message, on <span className="mono">{node}</span>
          </h3>
          <pre className="mcp-untrusted" tabIndex={0} role="group" aria-label="Lines">{lines.join("\n")}</pre>
        </div>
      ))}
    </div>
  );
}
