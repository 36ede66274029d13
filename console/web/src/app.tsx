/** Which page stands for the address. */

import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { onUnauthenticated, wasKnown } from "./api/client";
import { queryClient } from "./api/queries";
import { ApprovalsPage } from "./approvals/approvals-page";
import { Sprite } from "./design/glyph";
import { Toast } from "./design/toast";
import { McpPage } from "./mcp/mcp-page";
import { NodesPage } from "./nodes/nodes-page";
import { OverviewPage } from "./overview/overview-page";
import { PermissionsPage } from "./permissions/permissions-page";
import { SchedulesPage } from "./schedules/schedules-page";
import { goSignIn, useRoute, type Route } from "./shell/route";
import { Shell } from "./shell/shell";
import { SignInPage } from "./signin/signin-page";
import { WorkstreamPage } from "./workstream/workstream-page";
import { ListPage } from "./workstreams/list-page";

export function App() {
  const route = useRoute();
  useEffect(() => onUnauthenticated(() => goSignIn(wasKnown())), []);
  return (
    <QueryClientProvider client={queryClient}>
      <Sprite />
      {route.page === "signin" ? (
        <SignInPage key={route.code} code={route.code} next={route.next} ended={route.ended} />
      ) : (
        <Shell route={route}>
          {(onNew) => <Page route={route} onNew={onNew} />}
        </Shell>
      )}
      <Toast />
    </QueryClientProvider>
  );
}

function Page({ route, onNew }: { route: Exclude<Route, { page: "signin" }>; onNew: () => void }) {
  switch (route.page) {
    case "overview":
      return <OverviewPage onNew={onNew} />;
    case "nodes":
      return <NodesPage name={route.name} />;
    case "schedules":
      return <SchedulesPage view={route.view} />;
    case "approvals":
      return <ApprovalsPage view={route.view} call={route.call} />;
    case "permissions":
      return <PermissionsPage view={route.view} />;
    case "mcp":
      return <McpPage name={route.name} />;
    case "workstream":
      return <WorkstreamPage key={route.id} id={route.id} />;
    case "workstreams":
      return <ListPage search={route.search} onNew={onNew} />;
  }
}
