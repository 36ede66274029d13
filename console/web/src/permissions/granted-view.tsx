/** What people allowed beyond one call, each to be revoked. */

import type { DecisionView, Rule } from "../api/decision-types";
import { fullTime } from "../design/format";
import { dayOf } from "./day";
import { revoke, revokeHere } from "./rules-view";

interface GrantedViewProps {
  rules: readonly Rule[];
  own: readonly DecisionView[] | null;
  /** The chosen one, whose grants `own` holds. */
  workstream: string;
  may: boolean;
  mayApprove: boolean;
}

export function GrantedView({ rules, own, workstream, may, mayApprove }: GrantedViewProps) {
  const granted = rules.filter((rule) => rule.origin === "approval");
  const here = (own ?? []).filter((rule) => rule.origin === "approval");
  return (
    <>
      <p className="pm-say">
        What people allowed beyond one call. Revoking acts on the next call; calls that run now end as they began. What was
        allowed for one workstream is here when the workstream is chosen on the matrix.
      </p>
      {granted.length + here.length === 0 ? (
        <p className="pm-say">Nothing is granted.</p>
      ) : (
        <table className="tbl pm-granted">
          <caption className="vh">Grants</caption>
          <thead>
            <tr>
              <th scope="col">tool</th>
              <th scope="col">for</th>
              <th scope="col">by</th>
              <th scope="col" className="num">
                when
              </th>
              <th scope="col" className="act">
                <span className="vh">act</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {here.map((rule) => (
              <tr key={`own ${rule.pattern}`}>
                <td className="name">{rule.pattern}</td>
                <td>the chosen workstream</td>
                <td className="muted">an approval</td>
                <td className="num" />
                <td className="act">
                  <button
                    type="button"
                    className="btn sm no"
                    disabled={!mayApprove}
                    title={mayApprove ? undefined : "Needs the scope approve"}
                    aria-label={`Revoke ${rule.pattern} for the chosen workstream`}
                    onClick={() => void revokeHere(workstream, rule.pattern)}
                  >
                    Revoke
                  </button>
                </td>
              </tr>
            ))}
            {granted.map((rule) => (
              <tr key={rule.id}>
                <td className={rule.pattern.startsWith("mcp__") ? "name c-mcp" : "name"}>{rule.pattern}</td>
                <td>
                  {rule.scope} {rule.subject}
                </td>
                <td>{rule.created_by}</td>
                <td className="num muted" title={fullTime(rule.created_at)}>
                  {dayOf(rule.created_at)}
                </td>
                <td className="act">
                  <button
                    type="button"
                    className="btn sm no"
                    disabled={!may}
                    title={may ? undefined : "Needs the role admin"}
                    aria-label={`Revoke ${rule.pattern} for ${rule.subject}`}
                    onClick={() => void revoke(rule)}
                  >
                    Revoke
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
