/** The fields that describe a new server, each with why it was refused beneath it. */

import { useQuery } from "@tanstack/react-query";
import { useId, type ReactNode } from "react";
import { filledSlots } from "../api/mcp-queries";
import { Glyph } from "../design/glyph";
import { oauthSlot, SANDBOXES, type Choice, type Draft, type Proof, type Sandbox, type Way } from "./draft";

interface AddFieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  /** The field that was refused, as the record calls it. */
  wrong: string;
  message: string;
}

const WAYS: readonly [Way, string][] = [
  ["http", "By address"],
  ["stdio", "By command"],
];
const PROOFS: readonly [Proof, string][] = [
  ["none", "Nothing"],
  ["bearer", "Bearer"],
  ["header", "Header"],
  ["oauth", "OAuth"],
];
const CHOICES: readonly [Choice, string][] = [
  ["all", "All"],
  ["only", "Only some"],
  ["without", "All but some"],
];

export function AddFields({ draft, change, wrong, message }: AddFieldsProps) {
  const refused = { wrong, message };
  return (
    <>
      <Field field="name" label="Name" help="Its tools are called mcp__name__tool." {...refused}>
        {(marks) => <Line {...marks} value={draft.name} onValue={(name) => change({ name })} />}
      </Field>
      <Segments label="How it is reached" choices={WAYS} chosen={draft.way} onChoose={(way) => change({ way })} />
      {draft.way === "http" ? <ByAddress {...{ draft, change, ...refused }} /> : <ByCommand {...{ draft, change, ...refused }} />}
      <Segments label="Tools" labelled choices={CHOICES} chosen={draft.tools} onChoose={(tools) => change({ tools })} />
      {draft.tools !== "all" && (
        <Field
          field={draft.tools === "only" ? "enabled_tools" : "disabled_tools"}
          label={draft.tools === "only" ? "Only these" : "Without these"}
          help="The server's own names, with spaces between."
          {...refused}
        >
          {(marks) => <Line {...marks} value={draft.named} onValue={(named) => change({ named })} />}
        </Field>
      )}
      <Limits {...{ draft, change, ...refused }} />
      <SlotNames />
    </>
  );
}

function ByAddress({ draft, change, ...refused }: AddFieldsProps) {
  return (
    <>
      <Field field="url" label="Address" {...refused}>
        {(marks) => <Line {...marks} inputMode="url" value={draft.url} onValue={(url) => change({ url })} />}
      </Field>
      <Segments label="Signs in with" labelled choices={PROOFS} chosen={draft.proof} onChoose={(proof) => change({ proof })} />
      {draft.proof === "bearer" && (
        <Field field="bearer_token_secret_ref" label="Slot of the token" help={KEPT} {...refused}>
          {(marks) => <Line {...marks} list={SLOTS} value={draft.bearerSlot} onValue={(bearerSlot) => change({ bearerSlot })} />}
        </Field>
      )}
      {draft.proof === "header" && (
        <div className="pair">
          <Field field="http_header_secret_refs" label="Header" {...refused}>
            {(marks) => <Line {...marks} value={draft.header} onValue={(header) => change({ header })} />}
          </Field>
          <Field field="header_slot" label="Slot of its value" help={KEPT} {...refused}>
            {(marks) => <Line {...marks} list={SLOTS} value={draft.headerSlot} onValue={(headerSlot) => change({ headerSlot })} />}
          </Field>
        </div>
      )}
      {draft.proof === "oauth" && (
        <Field
          field={refused.wrong === "oauth_slot_ref" ? "oauth_slot_ref" : "oauth_scopes"}
          label="Scopes"
          help={`Empty: what the server asks for. You log in after adding it; tokens are kept encrypted in ${oauthSlot(draft.name.trim() || "NAME")}.`}
          {...refused}
        >
          {(marks) => <Line {...marks} value={draft.scopes} onValue={(scopes) => change({ scopes })} />}
        </Field>
      )}
    </>
  );
}

const SLOTS = "mcp-slots";

/** Slots that are filled already, to choose from. */
function SlotNames() {
  const { data = [] } = useQuery(filledSlots);
  return (
    <datalist id={SLOTS}>
      {data.map((slot) => (
        <option key={slot} value={slot} />
      ))}
    </datalist>
  );
}

const KEPT = "Its name, such as mcp.tides.token. The value is set with redshank secrets set; nobody can read it back.";

const CONFINED: Record<Sandbox, string> = {
  "": "none: the node's own rights",
  read_only: "may read",
  workspace_write: "may write in the workspace",
  network_enabled: "workspace, network",
};

function ByCommand({ draft, change, ...refused }: AddFieldsProps) {
  return (
    <>
      <div className="pair">
        <Field field="command" label="Command" help="Started on every node. No shell reads it." {...refused}>
          {(marks) => <Line {...marks} value={draft.command} onValue={(command) => change({ command })} />}
        </Field>
        <Field field="sandbox" label="Sandbox" {...refused}>
          {(marks) => (
            <select
              {...marks}
              className="input"
              value={draft.sandbox}
              onChange={(event) => change({ sandbox: SANDBOXES.find((one) => one === event.target.value) ?? "" })}
            >
              {SANDBOXES.map((one) => (
                <option key={one} value={one}>
                  {CONFINED[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field field="args" label="Arguments" help="One a line." {...refused}>
        {(marks) => <Lines {...marks} value={draft.args} onValue={(args) => change({ args })} />}
      </Field>
      <div className="pair">
        <Field field="env" label="Environment" help="NAME=value a line. Not for secrets." {...refused}>
          {(marks) => <Lines {...marks} value={draft.env} onValue={(env) => change({ env })} />}
        </Field>
        <Field field="env_secret_refs" label="Environment from slots" help="NAME=slot a line, such as TOKEN=mcp.tides.token." {...refused}>
          {(marks) => <Lines {...marks} value={draft.envSlots} onValue={(envSlots) => change({ envSlots })} />}
        </Field>
      </div>
    </>
  );
}

function Limits({ draft, change, ...refused }: AddFieldsProps) {
  return (
    <div className="three">
      <Field field="startup_timeout_sec" label="Start limit, s" {...refused}>
        {(marks) => (
          <Line {...marks} inputMode="decimal" value={draft.startSeconds} onValue={(startSeconds) => change({ startSeconds })} />
        )}
      </Field>
      <Field field="tool_timeout_sec" label="Call limit, s" {...refused}>
        {(marks) => <Line {...marks} inputMode="decimal" value={draft.callSeconds} onValue={(callSeconds) => change({ callSeconds })} />}
      </Field>
      <label className="flex">
        <input
          type="checkbox"
          className="check"
          checked={draft.required}
          onChange={(event) => change({ required: event.target.checked })}
        />
        Nodes need it to start
      </label>
    </div>
  );
}

interface Marks {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  field: string;
  label: string;
  help?: string;
  wrong: string;
  message: string;
  children: (marks: Marks) => ReactNode;
}

function Field({ field, label, help = "", wrong, message, children }: FieldProps) {
  const id = useId();
  const blamed = field === wrong;
  const says = blamed || help ? `${id}-says` : undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-invalid": blamed || undefined, "aria-describedby": says })}
      {blamed && (
        <span className="err" id={says} role="alert">
          <Glyph name="warn" />
          {message}
        </span>
      )}
      {!blamed && help && (
        <span className="help" id={says}>
          {help}
        </span>
      )}
    </div>
  );
}

interface LineProps extends Marks {
  value: string;
  inputMode?: "url" | "decimal";
  /** The id of what may be meant. */
  list?: string;
  onValue: (value: string) => void;
}

function Line({ onValue, ...rest }: LineProps) {
  return (
    <input
      {...rest}
      className="input mono"
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      onChange={(event) => onValue(event.target.value)}
    />
  );
}

function Lines({ onValue, ...rest }: Omit<LineProps, "inputMode" | "list">) {
  return (
    <textarea {...rest} className="input mono" rows={3} spellCheck={false} onChange={(event) => onValue(event.target.value)} />
  );
}

interface SegmentsProps<Name extends string> {
  label: string;
  /** Whether the label is seen, too. */
  labelled?: boolean;
  choices: readonly [Name, string][];
  chosen: Name;
  onChoose: (name: Name) => void;
}

function Segments<Name extends string>({ label, labelled = false, choices, chosen, onChoose }: SegmentsProps<Name>) {
  return (
    <div className="field">
      {labelled && <span className="label">{label}</span>}
      <div className="seg justify-self-start" role="group" aria-label={label}>
        {choices.map(([name, words]) => (
          <button key={name} type="button" aria-pressed={chosen === name} onClick={() => onChoose(name)}>
            {words}
          </button>
        ))}
      </div>
    </div>
  );
}
