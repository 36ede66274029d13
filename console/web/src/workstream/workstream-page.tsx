/** One workstream: its log, what it needs, and where to write to it. */

import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState, type RefObject } from "react";
import * as commands from "../api/commands";
import { waitingCounts } from "../api/decision-queries";
import { overview, queryClient, workstream } from "../api/queries";
import type { Mode, View, When } from "../api/types";
import { Bones } from "../design/bones";
import { Glyph, Icon } from "../design/glyph";
import { namingOf } from "../design/naming";
import { sayError } from "../design/toast";
import { PreviewPane } from "../preview/preview-pane";
import { useKeys } from "../shell/keys";
import { go, listPath, usePage, workstreamPath } from "../shell/route";
import { Announcer } from "./announcer";
import { CloseDialog } from "./close-dialog";
import { Composer } from "./composer";
import { pendingAsks, type Conversation } from "./conversation";
import type { EntryActs } from "./entry-view";
import { Facts } from "./facts";
import { Log } from "./log";
import { StreamNotice } from "./stream-notice";
import { Timeline } from "./timeline";
import { useConversation } from "./use-conversation";
import { WorkstreamHeader } from "./workstream-header";

const ASK_WHILE_RUNNING_MS = 3000;

export function WorkstreamPage({ id }: { id: string }) {
  const { conversation, refused } = useConversation(id);
  const { data: view } = useQuery({
    ...workstream(id),
    refetchInterval: conversation.state === "running" ? ASK_WHILE_RUNNING_MS : false,
  });
  const [at, setAt] = useState(0);
  const [text, setText] = useState("");
  const [when, setWhen] = useState<When>("next");
  const [closing, setClosing] = useState(false);
  const scroller = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const naming = namingOf({ id, name: conversation.name || (view?.name ?? ""), title: useTitle(conversation) });
  const name = naming.called;
  usePage("workstream", name, sceneOf(conversation));
  useFreshView(id, conversation.state);

  const goTo = useWalk(scroller, setAt);
  const tell = useCallback((start: string) => {
    setText((current) => current || start);
    field.current?.focus();
  }, []);
  const does = useCommands(id);
  const acts = useActs(id, conversation, does, tell);
  const stop = does.stop;
  useKeys({
    Escape: () => {
      if (conversation.state === "running") stop();
    },
    "[": () => goTo(neighbour(conversation, at, -1)),
    "]": () => goTo(neighbour(conversation, at, 1)),
  });

  if (refused) return <Refused why={refused.message} />;
  return (
    <div className="ws">
      <WorkstreamHeader
        naming={naming}
        conversation={withQueueWait(conversation, view)}
        onStop={stop}
        onFork={() => does.fork(conversation.seq)}
        onClose={() => setClosing(true)}
        onSide={toggleSide}
        onMode={does.setMode}
      />
      <Timeline conversation={conversation} at={at} onGo={goTo} />
      <div className="ws-grid">
        <section className="ws-log" aria-label="Log" ref={scroller}>
          <h2 className="vh">Log</h2>
          {conversation.seq === 0 && <Bones />}
          <Log conversation={conversation} acts={acts} at={at} scroller={scroller} />
          <StreamNotice />
          {conversation.state === "closed" ? (
            <ClosedFoot onFork={() => does.fork(conversation.seq)} />
          ) : (
            <Composer
              workstream={id}
              name={naming.words ? "this workstream" : name}
              conversation={conversation}
              text={text}
              onText={setText}
              when={when}
              onWhen={setWhen}
              onStop={stop}
              field={field}
            />
          )}
        </section>
        <PreviewPane id={id} conversation={conversation} />
        <Facts id={id} conversation={conversation} view={view} onMode={does.setMode} onClose={toggleSide} onGo={goTo} />
      </div>
      <Announcer conversation={conversation} />
      {closing && (
        <CloseDialog
          name={name}
          onCancel={() => setClosing(false)}
          onConfirm={() => {
            setClosing(false);
            does.close();
          }}
        />
      )}
    </div>
  );
}

/** What the page is about: on a phone an approval or a question leaves no room for the composer. */
function sceneOf(conversation: Conversation): string {
  const [ask] = pendingAsks(conversation);
  if (!ask) return "";
  return ask.kind === "question.asked" ? "question" : "approval";
}

/** What a person can do to it; a refusal is said. */
function useCommands(id: string) {
  return useMemo(
    () => ({
      stop: () => void commands.cancel(id).catch(sayError),
      close: () => void commands.close(id).catch(sayError),
      retry: () => void commands.retry(id).catch(sayError),
      setMode: (mode: Mode) => void commands.setMode(id, mode).catch(sayError),
      fork: (after: number) => void commands.fork(id, after).then((view) => go(workstreamPath(view.id)), sayError),
    }),
    [id],
  );
}

type Commands = ReturnType<typeof useCommands>;

function useActs(id: string, { persona, owner }: Conversation, does: Commands, onTell: (text: string) => void): EntryActs {
  return useMemo(
    () => ({ workstream: id, agent: persona || "agent", owner, onFork: does.fork, onRetry: does.retry, onTell }),
    [id, persona, owner, does, onTell],
  );
}

/** Where work waits for a node, which is no event, the console's view says so. */
function withQueueWait(conversation: Conversation, view: View | undefined): Conversation {
  if (conversation.state !== "running" || view?.state !== "waiting" || view.last_seq !== conversation.seq) return conversation;
  return { ...conversation, state: "waiting", waitingFor: view.waiting_for };
}

/** The first line of the first message. */
function useTitle({ entries }: Conversation): string {
  const first = entries.find((entry) => entry.kind === "user");
  return first?.kind === "user" ? (first.text.trim().split("\n", 1)[0] ?? "") : "";
}

/** The view is asked for anew when the state changes; all else the log says itself. */
function useFreshView(id: string, state: Conversation["state"]): void {
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: workstream(id).queryKey });
    void queryClient.invalidateQueries({ queryKey: overview.queryKey });
    void queryClient.invalidateQueries({ queryKey: waitingCounts.queryKey });
  }, [id, state]);
}

/** Walks to an event, or back to now (0). */
function useWalk(scroller: RefObject<HTMLElement | null>, setAt: (seq: number) => void): (seq: number) => void {
  return useCallback(
    (seq: number) => {
      setAt(seq);
      requestAnimationFrame(() => {
        const element = scroller.current;
        if (!element) return;
        if (seq === 0) element.scrollTo({ top: element.scrollHeight });
        else nearest(element, seq)?.scrollIntoView({ block: "center" });
      });
    },
    [scroller, setAt],
  );
}

function nearest(log: HTMLElement, seq: number): Element | undefined {
  const placed = [...log.querySelectorAll('[id^="e"]')].filter((element) => /^e\d+$/.test(element.id));
  return placed.find((element) => Number(element.id.slice(1)) >= seq) ?? placed.at(-1);
}

/** The entry before or after; after the last comes now (0). */
function neighbour({ entries, seq }: Conversation, at: number, step: 1 | -1): number {
  const from = at || seq + 1;
  const numbers = entries.map((entry) => entry.seq);
  if (step === 1) return at === 0 ? 0 : (numbers.find((number) => number > from) ?? 0);
  return numbers.findLast((number) => number < from) ?? numbers[0] ?? 0;
}

function toggleSide(): void {
  document.body.classList.toggle("side-open");
}

function ClosedFoot({ onFork }: { onFork: () => void }) {
  return (
    <div className="composer">
      <div className="notice info">
        <Glyph name="closed" />
        <p>
          <b>Closed.</b> It takes no more messages. To go on from here, fork it.
        </p>
        <button type="button" className="btn sm" onClick={onFork}>
          <Icon name="fork" />
          Fork
        </button>
      </div>
    </div>
  );
}

function Refused({ why }: { why: string }) {
  return (
    <>
      <header className="top">
        <h1>No such workstream</h1>
      </header>
      <div className="body">
        <div className="notice bad" role="alert">
          <Glyph name="fail" />
          <p>{why}</p>
          <a className="btn sm" href={listPath()}>
            All workstreams
          </a>
        </div>
      </div>
    </>
  );
}
