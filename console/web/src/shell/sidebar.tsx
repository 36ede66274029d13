/** The way through the page, on a desk. */

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { signOut } from "../api/commands";
import { mcpCount } from "../api/mcp-queries";
import { me, overview, queryClient } from "../api/queries";
import { initials } from "../design/format";
import { Bird, Glyph, Icon, type IconName } from "../design/glyph";
import { Popover } from "../design/popover";
import { sayError } from "../design/toast";
import {
  approvalsPath,
  goSignIn,
  listPath,
  mcpPath,
  nodesPath,
  overviewPath,
  permissionsPath,
  schedulesPath,
  type Route,
} from "./route";
import { nextTheme, useTheme } from "./theme";
import { workstreamCount } from "./counts";
import { useMine } from "./mine";

export function Sidebar({ route, onFind }: { route: Route; onFind: () => void }) {
  const { data } = useQuery(overview);
  const mine = useMine();
  const { data: servers = 0 } = useQuery(mcpCount);
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
      <Way to={overviewPath} icon="overview" here={route.page === "overview"} name="Overview" />
      <Way
        to={listPath()}
        icon="ws"
        here={route.page === "workstream" || route.page === "workstreams"}
        name="Workstreams"
      >
        {data && workstreamCount(data) > 0 && <span className="n">{workstreamCount(data)}</span>}
      </Way>
      <Way to={approvalsPath()} icon="approvals" here={route.page === "approvals"} name="Approvals">
        {mine > 0 && (
          <span className="n need">
            <Glyph name="you" />
            {mine}
            <span className="vh"> need you</span>
          </span>
        )}
      </Way>
      <Way to={schedulesPath()} icon="schedules" here={route.page === "schedules"} name="Schedules" />
      <h2>Rules</h2>
      <Way to={permissionsPath()} icon="permissions" here={route.page === "permissions"} name="Permissions" />
      <Way to={mcpPath()} icon="mcp" here={route.page === "mcp"} name="MCP">
        {servers > 0 && <span className="n">{servers}</span>}
      </Way>
      <h2>Cluster</h2>
      <Way to={nodesPath()} icon="nodes" here={route.page === "nodes"} name="Nodes">
        {data && (
          <span className={data.nodes.lost > 0 ? "n c-berry" : "n"}>
            {data.nodes.up}/{data.nodes.total}
            <span className="vh"> up</span>
          </span>
        )}
      </Way>
      <Account />
    </nav>
  );
}

interface WayProps {
  to: string;
  icon: IconName;
  here: boolean;
  name: string;
  /** What there is, in a figure. */
  children?: ReactNode;
}

function Way({ to, icon, here, name, children }: WayProps) {
  return (
    <a href={to} aria-current={here ? "page" : undefined} title={name}>
      <Icon name={icon} />
      {name}
      {children}
    </a>
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
