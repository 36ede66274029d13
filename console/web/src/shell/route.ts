/** Where in the page we are, as the address after # says. */

import { useEffect, useMemo, useSyncExternalStore } from "react";

export type Route =
  | { page: "signin"; code: string; next: string; ended: boolean }
  | { page: "overview" }
  | { page: "workstreams"; search: string }
  | { page: "workstream"; id: string }
  | { page: "nodes"; name: string }
  | { page: "schedules"; view: string }
  | { page: "approvals"; view: "approvals" | "questions" | "decided"; call: string }
  | { page: "permissions"; view: string }
  | { page: "mcp"; name: string };

/** The route of a hash such as `#/workstreams/ID`; anything unknown is the list. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#/, "").split("?", 2);
  const [, page, part = ""] = path.split("/");
  const id = decoded(part);
  const query = new URLSearchParams(search);
  const named = (key: string) => query.get(key) ?? "";
  if (page === "signin") return { page, code: named("code"), next: named("next"), ended: query.has("ended") };
  if (page === "overview") return { page };
  if (page === "nodes" || page === "mcp") return { page, name: id };
  if (page === "schedules") return { page, view: named("view") };
  if (page === "approvals" || page === "questions" || page === "decided") return { page: "approvals", view: page, call: id };
  if (page === "permissions") return { page, view: named("view") };
  if (page === "workstreams" && id) return { page: "workstream", id };
  return { page: "workstreams", search };
}

/** A mangled link is taken as it stands, so that the page can say that there is no such thing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const listPath = (search = "") => `#/workstreams${search ? `?${search}` : ""}`;
export const overviewPath = "#/overview";
export const nodesPath = (name = "") => (name ? `#/nodes/${encodeURIComponent(name)}` : "#/nodes");
export const schedulesPath = (view = "") => (view ? `#/schedules?view=${view}` : "#/schedules");
/** The inbox, at the call of this id where one is given. */
export const approvalsPath = (call = "") => `#/approvals${call ? `/${encodeURIComponent(call)}` : ""}`;
export const decidedPath = (call = "") => `#/decided${call ? `/${encodeURIComponent(call)}` : ""}`;
export const questionsPath = (call = "") => `#/questions${call ? `/${encodeURIComponent(call)}` : ""}`;
export const permissionsPath = (view = "") => (view ? `#/permissions?view=${view}` : "#/permissions");
export const mcpPath = (name = "") => (name ? `#/mcp/${encodeURIComponent(name)}` : "#/mcp");
export const workstreamPath = (id: string) => `#/workstreams/${encodeURIComponent(id)}`;

/** The list of what waits for a person. */
export const NEEDS_ME = "view=needs";

export function go(hash: string): void {
  window.location.hash = hash;
}

/** The same page at another place: the way back skips it. */
export function stand(hash: string): void {
  window.location.replace(hash);
}

/** To the sign-in page, and back here afterwards; it says so where a session has ended by itself. */
export function goSignIn(ended = false): void {
  const here = window.location.hash;
  if (parseRoute(here).page === "signin") return;
  const query = new URLSearchParams({ ...(here ? { next: here } : {}), ...(ended ? { ended: "" } : {}) });
  window.location.replace(`#/signin${query.size > 0 ? `?${query.toString()}` : ""}`);
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** Names the page in the tab and on the body, for the styles that depend on it. */
export function usePage(name: string, title: string, scene = ""): void {
  useEffect(() => {
    document.body.classList.add(`p-${name}`);
    return () => document.body.classList.remove(`p-${name}`, "side-open");
  }, [name]);
  useEffect(() => {
    document.title = `${title} · Redshank`;
  }, [title]);
  useEffect(() => {
    document.body.dataset["scene"] = scene;
    return () => {
      delete document.body.dataset["scene"];
    };
  }, [scene]);
}

function subscribe(reader: () => void): () => void {
  window.addEventListener("hashchange", reader);
  return () => window.removeEventListener("hashchange", reader);
}
