/** Who is logged in to a server, for how long, with the way out. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { endLogin, mcpAccount, readAnew } from "../api/mcp-queries";
import type { McpAccount } from "../api/mcp-types";
import { fullTime } from "../design/format";
import { say, sayError } from "../design/toast";

const LOOKS_EVERY_MS = 10_000;

export function Account({ name, may }: { name: string; may: boolean }) {
  const { data } = useQuery(mcpAccount(name, LOOKS_EVERY_MS));
  const leaving = useMutation({
    mutationFn: () => endLogin(name),
    onSuccess: () => say(`Logged out of ${name}`),
    onError: sayError,
    onSettled: readAnew,
  });
  if (!data) return null;
  return (
    <footer>
      <span className="grow">{saysOf(data)}</span>
      {(data.state === "live" || data.state === "needs_login") && (
        <button
          type="button"
          className="btn sm"
          disabled={!may}
          title={may ? undefined : "Needs the scope operate"}
          aria-busy={leaving.isPending}
          onClick={() => leaving.mutate()}
        >
          Log out
        </button>
      )}
    </footer>
  );
}

function saysOf({ state, logged_in_by: by, logged_in_at: at, expires_at: end, renews, needs_login: why, scopes }: McpAccount): string {
  switch (state) {
    case "none":
      return "Nobody is logged in.";
    case "revoked":
      return "Its login was revoked.";
    case "needs_login":
      return `Somebody must log in again: ${why}.`;
    case "live": {
      const until = renews ? "renews itself" : end ? `until ${fullTime(end)}` : "";
      return [`Logged in by ${by}, ${fullTime(at)}`, until, scopes.length > 0 ? `may ${scopes.join(", ")}` : ""].filter(Boolean).join("; ");
    }
  }
}
