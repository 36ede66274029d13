/** The way in: by the printed link, or with a token. */

import { useEffect, useState, type SyntheticEvent } from "react";
import { signIn } from "../api/commands";
import { ApiError } from "../api/client";
import { queryClient } from "../api/queries";
import { Bird, Glyph } from "../design/glyph";
import { listPath, usePage } from "../shell/route";
import { Tide } from "./tide";

type Step = { step: "ask" } | { step: "busy" } | { step: "refused"; why: string };

/** A code is good for one use, so a second render must not spend it again. */
const spent = new Map<string, Promise<object>>();

interface SignInPageProps {
  code: string;
  /** Where to go on. */
  next: string;
  /** A session has ended. */
  ended: boolean;
}

export function SignInPage({ code, next, ended }: SignInPageProps) {
  const [state, setState] = useState<Step>(code ? { step: "busy" } : { step: "ask" });
  const [token, setToken] = useState("");
  usePage("signin", "Sign in");
  useEffect(() => {
    if (!code) return;
    const answer = spent.get(code) ?? signIn({ code });
    spent.set(code, answer);
    answer.then(() => enter(next), (error: unknown) => setState({ step: "refused", why: reason(error, true) }));
  }, [code, next]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setState({ step: "busy" });
    const answer = signIn({ token: token.trim() });
    answer.then(() => enter(next), (error: unknown) => setState({ step: "refused", why: reason(error, false) }));
  };
  const refused = state.step === "refused";
  return (
    <main className="gate" id="main">
      <section className="gate-card" aria-labelledby="h-in">
        <p className="word">Redshank</p>
        <h1 id="h-in">Sign in</h1>
        <p className="muted">
          At <span className="mono">{window.location.host}</span>
        </p>
        {ended && !refused && (
          <div className="notice info" role="status">
            <Glyph name="closed" />
            <p>The session has ended, or its token was revoked. Sign in to go on where you were.</p>
          </div>
        )}
        {refused && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p id="refused">{state.why}</p>
          </div>
        )}
        <form className="stack" onSubmit={submit}>
          <div className="field">
            <label htmlFor="token">Token</label>
            <input
              className="input mono"
              id="token"
              type="password"
              autoComplete="off"
              placeholder="rsk_…"
              required
              value={token}
              aria-invalid={refused || undefined}
              aria-describedby={refused ? "refused" : undefined}
              onChange={(event) => setToken(event.target.value)}
            />
          </div>
          <button type="submit" className="btn ink big" aria-busy={state.step === "busy"} disabled={state.step === "busy"}>
            {state.step === "busy" ? "Signing in" : "Sign in"}
          </button>
        </form>
        <p className="help">
          First time here? <code>redshank up</code> printed a sign-in link; <code>redshank signin</code> prints a new one. The
          first admin token lies in <code>DATA/admin.token</code>.
        </p>
      </section>
      <Bird className="gate-bird mirror" />
      <Bird className="gate-bird" />
      <Tide />
    </main>
  );
}

function enter(next: string): void {
  queryClient.clear();
  window.location.replace(next.startsWith("#/") ? next : listPath());
}

function reason(error: unknown, byLink: boolean): string {
  if (!(error instanceof ApiError)) return "The browser could not send this. Load the page anew, then try again.";
  const isRefusal = error.status === 401 || error.status === 403 || error.status === 400 || error.status === 422;
  if (!isRefusal) return error.message;
  const mend = byLink
    ? "Run redshank signin for a new link, or paste the admin token here."
    : "Paste the token whole, or run redshank signin for a link.";
  return error.message.includes("redshank signin") ? error.message : `${error.message.replace(/\.?$/, ".")} ${mend}`;
}
