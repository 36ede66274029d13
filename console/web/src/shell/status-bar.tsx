/** The cluster in one line, at the foot of the page. */

import { useQuery } from "@tanstack/react-query";
import { overview } from "../api/queries";
import type { McpCounts, Overview } from "../api/types";
import { clock, plural, spanFine, tokens } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { useNow } from "../design/now";
import { useStreamBrokenSince } from "./liveness";
import { useMine } from "./mine";

const STALE_AFTER_MS = 10_000;

export function StatusBar({ onKeys }: { onKeys: () => void }) {
  const { data, dataUpdatedAt } = useQuery(overview);
  const now = useNow();
  const mine = useMine();
  return (
    <footer className="status" aria-label="Cluster status">
      <Liveness updatedAt={dataUpdatedAt} now={now} />
      <span>
        <b>{clock(new Date(now).toISOString())}</b> UTC
      </span>
      {data && <Figures overview={data} mine={mine} />}
      <span className="gap" />
      {data && data.totals.input_tokens + data.totals.output_tokens > 0 && (
        <span>
          total <b>{tokens(data.totals.input_tokens + data.totals.output_tokens)}</b> tok
        </span>
      )}
      {data && (
        <span>
          v{data.version.replace(/^v/, "")}
          {data.version_drift && <span className="c-reed">+{Math.max(1, data.versions.length - 1)} drift</span>}
        </span>
      )}
      <button type="button" onClick={onKeys}>
        <kbd>?</kbd> keys
      </button>
    </footer>
  );
}

function Liveness({ updatedAt, now }: { updatedAt: number; now: number }) {
  const brokenSince = useStreamBrokenSince();
  const at = (moment: number) => clock(new Date(moment).toISOString());
  const stale = updatedAt > 0 && now - updatedAt > STALE_AFTER_MS;
  if (stale || brokenSince !== null) {
    const words = brokenSince === null ? `stale since ${at(updatedAt)}` : `reconnecting since ${at(brokenSince)}`;
    return (
      <span>
        <span className="st st-warn">
          <Glyph name="late" />
          {words}
        </span>
      </span>
    );
  }
  return (
    <span className="st-live">
      <span className="st st-run">
        <Glyph name="run" />
        live
      </span>
    </span>
  );
}

function Figures({ overview: { nodes, workstreams, queues, mcp }, mine }: { overview: Overview; mine: number }) {
  return (
    <>
      <span>
        <span>
          nodes <b>{nodes.up}</b>/{nodes.total}
        </span>
        {nodes.lost > 0 && (
          <span className="st st-lost">
            <Glyph name="lost" />
            {nodes.lost} lost
          </span>
        )}
        {nodes.draining > 0 && (
          <span className="st st-drain">
            <Glyph name="drain" />
            {nodes.draining} draining
          </span>
        )}
      </span>
      <span>
        running <b>{workstreams.running}</b>
      </span>
      {mine > 0 && (
        <span className="c-leg">
          <Glyph name="you" />
          <b>{mine}</b> need{mine === 1 ? "s" : ""} you
        </span>
      )}
      <Queue depth={queues.depth} oldestSeconds={queues.oldest_seconds} />
      <Mcp counts={mcp} />
    </>
  );
}

function Queue({ depth, oldestSeconds }: { depth: number | null; oldestSeconds: number | null }) {
  if (depth === null) {
    return (
      <span className="st st-warn" title="Redis does not answer. Work goes on from the database once it does.">
        <Glyph name="unk" />
        queue unknown
      </span>
    );
  }
  return (
    <span>
      queue <b>{depth}</b>
      {depth > 0 && oldestSeconds !== null && (
        <>
          {" "}
          oldest <b>{spanFine(oldestSeconds)}</b>
        </>
      )}
    </span>
  );
}

function Mcp({ counts }: { counts: McpCounts }) {
  return (
    <span className="c-mcp" title="On all nodes together">
      <Icon name="mcp" className="i-sm" />
      mcp <b>{counts.servers}</b> {plural(counts.servers, "server")} <b>{counts.resources}</b> {plural(counts.resources, "resource")}{" "}
      <b>{counts.prompts}</b> {plural(counts.prompts, "prompt")}
    </span>
  );
}
