/** Which page stands for the address. */

import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { onUnauthenticated } from "./api/client";
import { queryClient } from "./api/queries";
import { Sprite } from "./design/glyph";
import { Toast } from "./design/toast";
import { goSignIn, useRoute } from "./shell/route";
import { Shell } from "./shell/shell";
import { SignInPage } from "./signin/signin-page";
import { WorkstreamPage } from "./workstream/workstream-page";
import { ListPage } from "./workstreams/list-page";

export function App() {
  const route = useRoute();
  useEffect(() => onUnauthenticated(goSignIn), []);
  return (
    <QueryClientProvider client={queryClient}>
      <Sprite />
      {route.page === "signin" ? (
        <SignInPage key={route.code} code={route.code} next={route.next} />
      ) : (
        <Shell route={route}>
          {(onNew) =>
            route.page === "workstream" ? (
              <WorkstreamPage key={route.id} id={route.id} />
            ) : (
              <ListPage search={route.search} onNew={onNew} />
            )
          }
        </Shell>
      )}
      <Toast />
    </QueryClientProvider>
  );
}
