/** The way through the page, in one hand. */

import { Icon } from "../design/glyph";
import { Popover } from "../design/popover";
import { useMine } from "./mine";
import { approvalsPath, listPath, mcpPath, nodesPath, overviewPath, permissionsPath, schedulesPath, type Route } from "./route";
import { leave } from "./sidebar";
import { nextTheme, useTheme } from "./theme";

export function TabBar({ route, onFind }: { route: Route; onFind: () => void }) {
  const mine = useMine();
  const theme = useTheme();
  return (
    <nav className="tabbar" aria-label="Main, short">
      <a href={overviewPath} aria-current={route.page === "overview" ? "page" : undefined}>
        <span>
          <Icon name="overview" />
        </span>
        Overview
      </a>
      <a href={listPath()} aria-current={route.page === "workstreams" ? "page" : undefined}>
        <span>
          <Icon name="ws" />
        </span>
        Work
      </a>
      <a href={approvalsPath()} aria-current={route.page === "approvals" ? "page" : undefined}>
        <span>
          <Icon name="approvals" />
          {mine > 0 && (
            <b>
              {mine}
              <span className="vh"> need you</span>
            </b>
          )}
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
        <a href={permissionsPath()} aria-current={route.page === "permissions" ? "page" : undefined}>
          <Icon name="permissions" />
          <span>Permissions</span>
        </a>
        <a href={mcpPath()} aria-current={route.page === "mcp" ? "page" : undefined}>
          <Icon name="mcp" />
          <span>MCP</span>
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
