/** A login at the server's own page, which this one waits for. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { beginLogin, mcpAccount, readAnew } from "../api/mcp-queries";
import { Dialog } from "../design/dialog";
import { clock } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { say } from "../design/toast";
import { loginPlace } from "./login";

const LOOKS_EVERY_MS = 1500;

export function LoginDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const beginning = useMutation({ mutationFn: beginLogin });
  const place = beginning.data && loginPlace(beginning.data.authorization_url);
  useDone(name, onClose);
  return (
    <Dialog label={`Log in to ${name}`} onClose={onClose}>
      <div className="scroll grid gap-4">
        <p>
          The login page is the server&rsquo;s own. What it grants is for the whole cluster; its tokens are kept encrypted and
          nobody can read them back, not even you.
        </p>
        {beginning.error && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p>{beginning.error.message}</p>
          </div>
        )}
        {beginning.data && !place && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p>The server names a login page that is no web address. It is not opened.</p>
          </div>
        )}
        {place && (
          <p>
            It is at <b className="mono">{place}</b>. This closes by itself once you are logged in; the way lasts until{" "}
            {clock(beginning.data.expires_at)} UTC.
          </p>
        )}
      </div>
      <footer>
        <span className="grow" />
        <button type="button" className="btn quiet" onClick={onClose}>
          {place ? "Close" : "Leave it"}
        </button>
        {place ? (
          <a className="btn ink" href={beginning.data.authorization_url} target="_blank" rel="noopener noreferrer">
            <Icon name="open" />
            Open the login page
          </a>
        ) : (
          <button type="button" className="btn ink" aria-busy={beginning.isPending} onClick={() => beginning.mutate(name)}>
            Begin
          </button>
        )}
      </footer>
    </Dialog>
  );
}

/** Closes as soon as there is a login that was not there before. */
function useDone(name: string, onClose: () => void): void {
  const { data } = useQuery(mcpAccount(name, LOOKS_EVERY_MS));
  const before = useRef<string>(undefined);
  const at = data?.logged_in_at;
  useEffect(() => {
    if (at === undefined || at === before.current) return;
    const first = before.current === undefined;
    before.current = at;
    if (first) return;
    say(`Logged in to ${name}`);
    void readAnew();
    onClose();
  }, [at, name, onClose]);
}
