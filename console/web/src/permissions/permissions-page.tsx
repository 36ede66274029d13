/** What agents may do: the live matrix, the rules behind it, what was granted, another policy beside it. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { matrix as matrixOf, rules as allRules } from "../api/decision-queries";
import type { RuleScope } from "../api/decision-types";
import { me } from "../api/queries";
import { Bones } from "../design/bones";
import { counted } from "../design/format";
import { Icon } from "../design/glyph";
import { Refused } from "../design/refused";
import { say, sayError } from "../design/toast";
import { permissionsPath, usePage } from "../shell/route";
import { CompareView } from "./compare-view";
import { GrantedView } from "./granted-view";
import { MatrixView } from "./matrix-view";
import { policyText } from "./policy-text";
import { RuleDialog } from "./rule-dialog";
import { ownRules, shownTool } from "./rows";
import { RulesView } from "./rules-view";
import { StandpointBar, type Stand } from "./standpoint-bar";
import { TryCall } from "./try-call";
import { Verdict, type Shown } from "./verdict";
import { WhyBar } from "./why-bar";

const VIEWS = [
  ["", "Matrix"],
  ["rules", "Rules"],
  ["granted", "Granted"],
  ["compare", "Compare"],
] as const;

export function PermissionsPage({ view }: { view: string }) {
  const [stand, setStand] = useState<Stand>({ profile: "default", workstream: "" });
  const [shown, setShown] = useState<Shown | null>(null);
  const [adding, setAdding] = useState<RuleScope | null>(null);
  const standpoint = { profile: stand.profile, ...(stand.workstream ? { workstream: stand.workstream } : {}) };
  const query = useQuery(matrixOf(standpoint));
  const { data: rules, error: rulesError, refetch } = useQuery(allRules);
  const { data: self } = useQuery(me);
  const may = self?.scopes.includes("admin") ?? false;
  const own = stand.workstream && query.data ? ownRules(query.data.rows) : null;
  usePage("permissions", "Permissions");
  return (
    <>
      <header className="top">
        <h1>Permissions</h1>
        <nav className="tabs self-end" aria-label="Permissions">
          {VIEWS.map(([name, label]) => (
            <a key={name} href={permissionsPath(name)} aria-current={view === name ? "page" : undefined}>
              {label}
              <Count view={name} rules={rules} />
            </a>
          ))}
        </nav>
        <div className="acts">
          <button type="button" className="btn" title="As a file" disabled={!rules} onClick={() => copyRules(rules ?? [])}>
            <Icon name="copy" />
            As a file
          </button>
          <button
            type="button"
            className="btn ink"
            disabled={!may}
            title={may ? "Add rule" : "Adding rules needs the role admin"}
            onClick={() => setAdding("project")}
          >
            <Icon name="plus" />
            Add rule
          </button>
        </div>
      </header>
      <div className="pm-grid">
        <div className="pm-main">
          {rulesError && !rules && <Refused error={rulesError} onRetry={() => void refetch()} />}
          {view === "" && (
            <section aria-label="Matrix">
              <StandpointBar stand={stand} onStand={setStand} />
              {query.error && !query.data && <Refused error={query.error} onRetry={() => void query.refetch()} />}
              {query.isPending && <Bones />}
              {query.data && (
                <div className="scroll-x">
                  <MatrixView matrix={query.data} rules={rules ?? []} shown={shown} onShown={setShown} />
                </div>
              )}
            </section>
          )}
          {view === "rules" && rules && (
            <section aria-label="Rules by scope">
              <RulesView rules={rules} own={own} profile={stand.profile} shown={shown} may={may} onAdd={setAdding} />
            </section>
          )}
          {view === "granted" && rules && (
            <section aria-label="Granted">
              <GrantedView rules={rules} own={own} may={may} />
            </section>
          )}
          {view === "compare" && (
            <section aria-label="Compare two policies">
              <CompareView rules={rules ?? []} profile={stand.profile} matrix={query.data} />
            </section>
          )}
        </div>
        <aside className="pm-side" aria-label="Try a call">
          <div className="phead">
            <h2>Try a call</h2>
            <span className="grow" />
            <span className="tag">dry run</span>
          </div>
          <TryCall standpoint={standpoint} tools={(query.data?.rows ?? []).map(shownTool)} onShown={setShown} />
          <Verdict shown={shown} />
        </aside>
      </div>
      {view === "" && shown && <WhyBar shown={shown} onClose={() => setShown(null)} />}
      {adding && <RuleDialog scope={adding} self={self?.name ?? ""} onClose={() => setAdding(null)} />}
    </>
  );
}

function Count({ view, rules }: { view: string; rules: readonly { origin: string }[] | undefined }) {
  if (!rules || (view !== "rules" && view !== "granted")) return null;
  const counts = view === "rules" ? rules : rules.filter((rule) => rule.origin === "approval");
  return <span className="n">{counts.length}</span>;
}

function copyRules(rules: Parameters<typeof policyText>[0]): void {
  navigator.clipboard.writeText(policyText(rules)).then(() => say(`Copied: ${counted(rules.length, "rule")} as TOML`), sayError);
}
