/** The frame around every page: ways, keys, layers, the cluster's line. */

import { useCallback, useEffect, useState, type ReactNode } from "react";
import { Boundary } from "../design/boundary";
import { NewDialog } from "../workstreams/new-dialog";
import { useKeys } from "./keys";
import { KeysSheet } from "./keys-sheet";
import { LostNodes } from "./lost-nodes";
import { NewNeeds } from "./new-needs";
import { Palette } from "./palette";
import { approvalsPath, go, listPath, mcpPath, nodesPath, overviewPath, permissionsPath, schedulesPath, type Route } from "./route";
import { Sidebar } from "./sidebar";
import { StatusBar } from "./status-bar";
import { TabBar } from "./tab-bar";
import { nextTheme } from "./theme";

type Layer = "palette" | "keys" | "new" | null;

interface ShellProps {
  route: Route;
  children: (onNew: () => void) => ReactNode;
}

export function Shell({ route, children }: ShellProps) {
  const where = route.page === "workstream" ? route.id : route.page;
  const [layer, setLayer] = useState<Layer>(null);
  const close = useCallback(() => setLayer(null), []);
  const onNew = useCallback(() => setLayer("new"), []);
  const onFind = useCallback(() => setLayer("palette"), []);
  useFindKey(onFind);
  useKeys({
    t: nextTheme,
    c: (event) => {
      event.preventDefault();
      onNew();
    },
    "?": () => setLayer("keys"),
    "g w": () => go(listPath()),
    "g a": () => go(approvalsPath()),
    "g p": () => go(permissionsPath()),
    "g m": () => go(mcpPath()),
    "g o": () => go(overviewPath),
    "g s": () => go(schedulesPath()),
    "g n": () => go(nodesPath()),
  });
  return (
    <>
      <a className="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <div className="shell">
        <Sidebar route={route} onFind={onFind} />
        <main className="main" id="main" tabIndex={-1}>
          <Boundary key={where}>{children(onNew)}</Boundary>
        </main>
        <StatusBar onKeys={() => setLayer("keys")} />
        <TabBar route={route} onFind={onFind} />
        <LostNodes />
        <NewNeeds />
      </div>
      {layer === "palette" && <Palette onClose={close} onNew={onNew} />}
      {layer === "keys" && <KeysSheet onClose={close} />}
      {layer === "new" && <NewDialog onClose={close} />}
    </>
  );
}

/** The address after # is the route, so the jump must not change it. */
function skip(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function useFindKey(onFind: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      onFind();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [onFind]);
}
