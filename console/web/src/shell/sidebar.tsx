/** The way through the page, on a desk. */

import { useQuery } from "@tanstack/react-query";
import { signOut } from "../api/commands";
import { me, overview, queryClient } from "../api/queries";
import { initials } from "../design/format";
import { Bird, Glyph, Icon } from "../design/glyph";
import { Popover } from "../design/popover";
import { sayError } from "../design/toast";
import { goSignIn, listPath, NEEDS_ME, type Route } from "./route";
import { nextTheme, useTheme } from "./theme";
import { workstreamCount } from "./counts";

export function Sidebar({ route, onFind }: { route: Route; onFind: () => void }) {
  const { data } = useQuery(overview);
  const needsMe = route.page === "workstreams" && route.search === NEEDS_ME;
  return (
    <nav className="nav" aria-label="Main">
      <div className="brand">
        <Bird />
        Redshank
      </div>
      <button type="button" className="find" onClick={onFind}>
        <Icon name="search" />
        Find or do<kbd>Ctrl K</kbd>
      </button>
      <a href={listPath()} aria-current={!needsMe && route.page !== "signin" ? "page" : undefined} title="Workstreams">
        <Icon name="ws" />
        Workstreams
        {data && workstreamCount(data) > 0 && <span className="n">{workstreamCount(data)}</span>}
      </a>
      <a href={listPath(NEEDS_ME)} aria-current={needsMe ? "page" : undefined} title="Approvals">
        <Icon name="approvals" />
        Approvals
        {data && data.needs_you > 0 && (
          <span className="n need">
            <Glyph name="you" />
            {data.needs_you}
            <span className="vh"> need you</span>
          </span>
        )}
      </a>
      <Account />
    </nav>
  );
}

function Account() {
  const { data } = useQuery(me);
  const theme = useTheme();
  if (!data) return null;
  return (
    <div className="me">
      <button type="button" className="account" popoverTarget="account" title="Account">
        <span className="av" aria-hidden="true">
          {initials(data.name)}
        </span>
        <span className="who clip">
          {data.name}
          <span>{data.role}</span>
        </span>
      </button>
      <button
        type="button"
        className="btn quiet sm icon"
        aria-label={`Theme: ${theme === "system" ? "follows the system" : theme}`}
        onClick={nextTheme}
      >
        <Icon name="theme" />
      </button>
      <Popover id="account" className="menu">
        <button type="button" onClick={leave}>
          <span />
          <span>Sign out</span>
        </button>
      </Popover>
    </div>
  );
}

/** Ends the session of this browser. */
export function leave(): void {
  signOut().then(() => {
    queryClient.clear();
    goSignIn();
  }, sayError);
}
