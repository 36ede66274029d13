/** The rules by scope, in the order in which they are searched. */

import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { removeRule, revokeGrant } from "../api/commands";
import { profiles } from "../api/decision-queries";
import type { DecisionView, Rule, RuleScope } from "../api/decision-types";
import { queryClient } from "../api/queries";
import type { Decision } from "../api/types";
import { Dialog } from "../design/dialog";
import { fullTime } from "../design/format";
import { Icon } from "../design/glyph";
import { say, sayError } from "../design/toast";
import { Badge } from "./badge";
import { dayOf } from "./day";
import type { Shown } from "./verdict";

interface RulesViewProps {
  rules: readonly Rule[];
  /** The chosen workstream's own rules; null where none is chosen. */
  own: readonly DecisionView[] | null;
  profile: string;
  /** The decision that is explained: its rule is marked. */
  shown: Shown | null;
  may: boolean;
  onAdd: (scope: RuleScope) => void;
}

export function RulesView({ rules, own, profile, shown, may, onAdd }: RulesViewProps) {
  const [removing, setRemoving] = useState<Rule | null>(null);
  const hit = shown?.verdict;
  const builtin = hit?.scope === "session" && hit.origin === "static" ? hit.pattern : undefined;
  return (
    <>
      <p className="pm-say">
        Searched from left to right. The first scope with a match decides; inside a scope the exact name beats the longer
        prefix, that beats the shorter, and <code>*</code> comes last. A locked deny beats everything below it.
      </p>
      <div className="scopes">
        <Column order={1} name="Workstream" count={own?.length}>
          {own?.map((rule) => (
            <Line key={rule.pattern} pattern={rule.pattern} decision={rule.base_decision}>
              <span className="by">{rule.origin === "approval" ? "from an approval" : "from a hook"}</span>
            </Line>
          ))}
          {!own && <li className="faint">Choose a workstream on the matrix to see its own rules.</li>}
          {own?.length === 0 && <li className="faint">None that decides on a tool.</li>}
        </Column>
        {(["project", "user"] as const).map((scope, at) => (
          <Column
            key={scope}
            order={at + 2}
            name={scope === "project" ? "Project" : "User"}
            count={rules.filter((rule) => rule.scope === scope).length}
            foot={
              <button
                type="button"
                className="btn sm quiet"
                disabled={!may}
                title={may ? undefined : "Needs the role admin"}
                onClick={() => onAdd(scope)}
              >
                <Icon name="plus" />
                Add to {scope}
              </button>
            }
          >
            {rules
              .filter((rule) => rule.scope === scope)
              .map((rule) => (
                <Line
                  key={rule.id}
                  pattern={rule.pattern}
                  decision={rule.decision}
                  locked={rule.locked}
                  hit={hit?.scope === scope && hit.pattern === rule.pattern}
                  onRemove={may ? () => setRemoving(rule) : undefined}
                >
                  <span className="by" title={fullTime(rule.created_at)}>
                    {ofWhom(rule)}
                    {rule.created_by}
                    {rule.origin === "approval" && ", from an approval"}, {dayOf(rule.created_at)}
                    {rule.note && `: ${rule.note}`}
                  </span>
                </Line>
              ))}
          </Column>
        ))}
        <BuiltIn profile={profile} hit={builtin} />
      </div>
      {removing && <RemoveDialog rule={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

/** What a profile ships with; `hit` is the pattern that decided. */
function BuiltIn({ profile, hit }: { profile: string; hit: string | undefined }) {
  const { data, error } = useQuery(profiles);
  const ships = data?.items.find((one) => one.name === profile)?.rules ?? [];
  return (
    <Column order={4} name="Built-in" beside={`ships with profile ${profile}`} count={data && ships.length}>
      {error && !data && <li className="c-berry">Not known: {error.message}</li>}
      {ships.map((rule) => (
        <Line key={rule.pattern} pattern={rule.pattern} decision={rule.decision} hit={hit === rule.pattern} />
      ))}
    </Column>
  );
}

function ofWhom({ scope, subject }: Rule): string {
  if (subject === "*") return scope === "user" ? "for everyone, by " : "every project, by ";
  return scope === "user" ? `for ${subject}, by ` : `${subject}, by `;
}

interface ColumnProps {
  order: number;
  name: string;
  beside?: string;
  count: number | undefined;
  foot?: ReactNode;
  children: ReactNode;
}

function Column({ order, name, beside = "", count, foot, children }: ColumnProps) {
  return (
    <section className="scope-col" aria-label={name}>
      <header>
        <span className="ord">{order}</span>
        <h2 className="nowrap">{name}</h2>
        <span className="faint clip">{beside}</span>
        <span className="faint n">{count}</span>
      </header>
      <ul>{children}</ul>
      {foot}
    </section>
  );
}

interface LineProps {
  pattern: string;
  decision: Decision;
  locked?: boolean;
  hit?: boolean;
  onRemove?: (() => void) | undefined;
  children?: ReactNode;
}

function Line({ pattern, decision, locked = false, hit = false, onRemove, children }: LineProps) {
  return (
    <li className={hit ? "hit" : undefined}>
      <span className="flex">
        <code className={`clip grow${pattern.startsWith("mcp__") ? " c-mcp" : ""}`} title={pattern}>
          {pattern}
        </code>
        {locked && (
          <span className="faint" title="Locked: no lower scope can beat it">
            <Icon name="lock" className="i-sm" />
            <span className="vh">locked</span>
          </span>
        )}
        <Badge decision={decision} />
        {onRemove && (
          <button type="button" className="btn quiet sm icon" aria-label={`Remove the rule ${pattern} ${decision}`} onClick={onRemove}>
            <Icon name="x" className="i-sm" />
          </button>
        )}
      </span>
      {children}
    </li>
  );
}

/** Takes a rule away, and says so. */
export function revoke(rule: Rule): Promise<void> {
  return removeRule(rule.id).then(() => {
    void queryClient.invalidateQueries({ queryKey: ["rules"] });
    void queryClient.invalidateQueries({ queryKey: ["matrix"] });
    say(`Removed: ${rule.pattern} ${rule.decision}. It counts from the next call on.`);
  }, sayError);
}

/** Take back what was allowed for one workstream. */
export function revokeHere(workstream: string, pattern: string): Promise<void> {
  return revokeGrant(workstream, pattern).then(() => {
    void queryClient.invalidateQueries({ queryKey: ["matrix"] });
    say(`Revoked: ${pattern} asks again from the next call on.`);
  }, sayError);
}

function RemoveDialog({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const remove = () => void revoke(rule).finally(onClose);
  return (
    <Dialog label={`Remove ${rule.pattern}`} onClose={onClose}>
      <div className="scroll">
        <p>
          Without this {rule.scope} rule the next one that matches <code>{rule.pattern}</code> decides, from the next call on.
          {rule.locked && " It is locked: what it denied may become allowed."}
        </p>
      </div>
      <footer>
        <span className="grow" />
        <button type="button" className="btn quiet" onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="btn no" onClick={remove}>
          Remove this rule
        </button>
      </footer>
    </Dialog>
  );
}
