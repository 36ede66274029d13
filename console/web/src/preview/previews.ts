/** What an agent opened beside its conversation, as the console lists it. */

import { queryOptions } from "@tanstack/react-query";
import { read, readText } from "../api/client";
import type { Page } from "../api/types";

export type PreviewKind = "web" | "pdf" | "image" | "table" | "text" | "markdown";

export interface OpenedPreview {
  seq: number;
  at: string;
  call_id: string;
  kind: PreviewKind;
  title: string;
  /** Names the bytes. */
  digest: string;
  /** The target as the agent named it. */
  source: string;
  media_type: string;
  size: number;
}

/** The last previews of a workstream, the newest first; `calls` grows with each that was opened. */
export function previews(workstream: string, calls: number) {
  return queryOptions({
    queryKey: ["previews", workstream, calls],
    queryFn: async ({ signal }) => {
      const page = await read<Page<OpenedPreview>>(`/v1/workstreams/${encodeURIComponent(workstream)}/previews`, signal);
      return page.items;
    },
    enabled: calls > 0,
    placeholderData: (before) => before,
  });
}

/** The text of a preview; the same digest is the same text for ever. */
export function textOf(digest: string) {
  return queryOptions({
    queryKey: ["asset", digest],
    queryFn: ({ signal }) => readText(downloadPath(digest), signal),
    staleTime: Infinity,
  });
}

/** Bytes in a person's words: 812 bytes, 12 kB, 3.4 MB. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function downloadPath(digest: string): string {
  return `/v1/assets/${encodeURIComponent(digest)}`;
}

/** Where a browser shows the bytes as this type; `live` lets a page run scripts and load from elsewhere. */
export function shownPath(digest: string, mediaType: string, live = false): string {
  const bare = mediaType.split(";", 1)[0] ?? mediaType;
  return `${downloadPath(digest)}?as=${encodeURIComponent(bare)}${live ? "&live=true" : ""}`;
}
