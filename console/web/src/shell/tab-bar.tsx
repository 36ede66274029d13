/** The way through the page, in one hand. */

import { useQuery } from "@tanstack/react-query";
import { overview } from "../api/queries";
import { Icon } from "../design/glyph";
import { Popover } from "../design/popover";
import { listPath, NEEDS_ME, nodesPath, overviewPath, schedulesPath, type Route } from "./route";
import { leave } from "./sidebar";
import { nextTheme, useTheme } from "./theme";

export function TabBar({ route, onFind }: { route: Route; onFind: () => void }) {
  const { data } = useQuery(overview);
  const theme = useTheme();
  const needsMe = route.page === "workstreams" && route.search === NEEDS_ME;
  return (
    <nav className="tabbar" aria-label="Main, short">
      <a href={overviewPath} aria-current={route.page === "overview" ? "page" : undefined}>
        <span>
          <Icon name="overview" />
        </span>
        Overview
      </a>
      <a href={listPath()} aria-current={route.page === "workstreams" && !needsMe ? "page" : undefined}>
        <span>
          <Icon name="ws" />
        </span>
        Work
      </a>
      <a href={listPath(NEEDS_ME)} aria-current={needsMe ? "page" : undefined}>
        <span>
          <Icon name="approvals" />
          {data && data.needs_you > 0 && <b>{data.needs_you}</b>}
        </span>
        Approvals
      </a>
      <a href={nodesPath()} aria-current={route.page === "nodes" ? "page" : undefined}>
        <span>
          <Icon name="nodes" />
        </span>
        Nodes
      </a>
      <button type="button" popoverTarget="more">
        <span>
          <Icon name="more" />
        </span>
        More
      </button>
      <Popover id="more" className="menu">
        <a href={schedulesPath()} aria-current={route.page === "schedules" ? "page" : undefined}>
          <Icon name="schedules" />
          <span>Schedules</span>
        </a>
        <button type="button" onClick={onFind}>
          <Icon name="search" />
          <span>Find or do</span>
        </button>
        <button type="button" onClick={nextTheme}>
          <Icon name="theme" />
          <span>Theme: {theme === "system" ? "follows the system" : theme}</span>
        </button>
        <button type="button" onClick={leave}>
          <span />
          <span>Sign out</span>
        </button>
      </Popover>
    </nav>
  );
}
