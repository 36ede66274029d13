/** The cluster as it is now, kept up with its stream. */

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { stayConnected } from "../api/connection";
import type { Frame } from "../api/frames";
import type { HeardNode } from "../api/heard";
import { nodes, overview, queryClient } from "../api/queries";
import { foldCluster, type Known } from "./fold";

const SHOW_EVERY_MS = 100;

/** All nodes, undefined until the console told of them; watched for as long as the caller is shown. */
export function useCluster(): { nodes: readonly HeardNode[] | undefined; error: Error | null } {
  const { data, error } = useQuery(nodes);
  useEffect(watchCluster, []);
  return { nodes: data, error };
}

/** Answers the way to leave. Without a stream the page still asks now and then. */
function watchCluster(): () => void {
  const leaving = new AbortController();
  let told: Frame[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    timer = undefined;
    const frames = told;
    told = [];
    learn(frames);
  };
  const take = (frames: Frame[]) => {
    told.push(...frames);
    timer ??= setTimeout(show, SHOW_EVERY_MS);
    return true;
  };
  const nothing = () => undefined;
  const request = () => ({ path: "/v1/cluster/events", headers: {} });
  void stayConnected({ request, take, status: nothing, refused: nothing }, leaving.signal);
  return () => {
    leaving.abort();
    clearTimeout(timer);
  };
}

/** Puts what frames say beside what was asked for, so that every reader of either sees it. */
function learn(frames: Frame[]): void {
  const before: Known = {
    overview: queryClient.getQueryData(overview.queryKey),
    nodes: queryClient.getQueryData(nodes.queryKey),
  };
  const now = Date.now();
  const after = frames.reduce((known, frame) => foldCluster(known, frame, now), before);
  if (after.overview && after.overview !== before.overview) queryClient.setQueryData(overview.queryKey, after.overview);
  if (after.nodes && after.nodes !== before.nodes) queryClient.setQueryData(nodes.queryKey, [...after.nodes]);
}
