/** What agents may do: the live matrix, the rules behind it, what was granted, another policy beside it. */

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useState, type ComponentProps } from "react";
import { matrix as matrixOf, rules as allRules } from "../api/decision-queries";
import type { Matrix, Rule, RuleScope } from "../api/decision-types";
import { me } from "../api/queries";
import { Bones } from "../design/bones";
import { copy } from "../design/copying";
import { counted } from "../design/format";
import { Icon } from "../design/glyph";
import { Refused } from "../design/refused";
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
  const [stand, setStand] = useState<Stand>({ profile: "", workstream: "" });
  const [shown, setShown] = useState<Shown | null>(null);
  const [adding, setAdding] = useState<RuleScope | null>(null);
  const { standpoint, query, stored, own } = useDecisions(stand);
  const { data: rules } = stored;
  const { data: self } = useQuery(me);
  const may = holds(self, "admin");
  usePage("permissions", "Permissions");
  return (
    <>
      <Head view={view} rules={rules} may={may} onAdd={() => setAdding("project")} />
      <div className="pm-grid">
        <div className="pm-main">
          <Unknown stored={stored} />
          {view === "" && (
            <MatrixPart query={query} rules={rules ?? []} stand={stand} onStand={setStand} shown={shown} onShown={setShown} />
          )}
          {rules && (
            <RulesPart
              view={view}
              matrix={query.data}
              rules={rules}
              own={own}
              workstream={stand.workstream}
              mayApprove={holds(self, "approve")}
              profile={query.data?.profile ?? "default"}
              shown={shown}
              may={may}
              onAdd={setAdding}
            />
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

function holds(self: { scopes: readonly string[] } | undefined, scope: string): boolean {
  return self?.scopes.includes(scope) ?? false;
}

/** Why the stored rules are not known. */
function Unknown({ stored }: { stored: UseQueryResult<Rule[]> }) {
  if (!stored.error || stored.data) return null;
  return <Refused error={stored.error} onRetry={() => void stored.refetch()} />;
}

/** What is decided from where one stands, with the rules behind it. */
function useDecisions({ profile, workstream }: Stand) {
  const standpoint = { ...(profile ? { profile } : {}), ...(workstream ? { workstream } : {}) };
  const query = useQuery(matrixOf(standpoint));
  const stored = useQuery(allRules);
  const own = workstream && query.data ? ownRules(query.data.rows) : null;
  return { standpoint, query, stored, own };
}

interface HeadProps {
  view: string;
  rules: readonly Rule[] | undefined;
  may: boolean;
  onAdd: () => void;
}

function Head({ view, rules, may, onAdd }: HeadProps) {
  return (
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
        <button type="button" className="btn" title="As a file" disabled={!rules} onClick={() => void copy(policyText(rules ?? []), `Copied: ${counted(rules?.length ?? 0, "rule")} as TOML`)}>
          <Icon name="copy" />
          As a file
        </button>
        <button
          type="button"
          className="btn ink"
          disabled={!may}
          title={may ? "Add rule" : "Adding rules needs the role admin"}
          onClick={onAdd}
        >
          <Icon name="plus" />
          Add rule
        </button>
      </div>
    </header>
  );
}

interface MatrixPartProps {
  query: UseQueryResult<Matrix>;
  rules: readonly Rule[];
  stand: Stand;
  onStand: (stand: Stand) => void;
  shown: Shown | null;
  onShown: (shown: Shown) => void;
}

function MatrixPart({ query, rules, stand, onStand, shown, onShown }: MatrixPartProps) {
  return (
    <section aria-label="Matrix">
      <StandpointBar stand={stand} onStand={onStand} />
      {query.error && !query.data && <Refused error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Bones />}
      {query.data && (
        <div className="scroll-x">
          <MatrixView matrix={query.data} rules={rules} shown={shown} onShown={onShown} />
        </div>
      )}
    </section>
  );
}

type RulesPartProps = ComponentProps<typeof RulesView> &
  ComponentProps<typeof GrantedView> & { view: string; matrix: Matrix | undefined };

function RulesPart({ view, matrix, ...rest }: RulesPartProps) {
  if (view === "compare") {
    return (
      <section aria-label="Compare two policies">
        <CompareView rules={rest.rules} profile={rest.profile} matrix={matrix} />
      </section>
    );
  }
  if (view === "rules") {
    return (
      <section aria-label="Rules by scope">
        <RulesView {...rest} />
      </section>
    );
  }
  if (view !== "granted") return null;
  return (
    <section aria-label="Granted">
      <GrantedView {...rest} />
    </section>
  );
}

function Count({ view, rules }: { view: string; rules: readonly { origin: string }[] | undefined }) {
  if (!rules || (view !== "rules" && view !== "granted")) return null;
  const counts = view === "rules" ? rules : rules.filter((rule) => rule.origin === "approval");
  return <span className="n">{counts.length}</span>;
}
