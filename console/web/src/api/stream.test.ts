import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApiError } from "./client";
import type { AnyEvent } from "./events";
import { watch } from "./stream";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const direct = globalThis.fetch;
let server: Server;
let answers: Answer[];

beforeEach(async () => {
  answers = [];
  server = createServer((request, response) => answers.shift()?.(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  globalThis.fetch = (path, request) => direct(new URL(path as string, `http://127.0.0.1:${port}`), request);
});

afterEach(() => {
  globalThis.fetch = direct;
  server.closeAllConnections();
  server.close();
});

function frames(response: ServerResponse, ...seqs: number[]): void {
  for (const seq of seqs) response.write(`id: ${seq}\nevent: usage\ndata: {"seq":${seq},"kind":"usage"}\n\n`);
}

/** Watches until so many events came, or the stream was refused. */
async function watched(count: number, refuse: (seq: number) => boolean = () => false) {
  const seen: number[] = [];
  const live: boolean[] = [];
  let restarts = 0;
  let error: ApiError | null = null;
  const leaving = new AbortController();
  const take = (events: AnyEvent[]) => {
    for (const one of events) {
      const { seq } = one as { seq: number };
      if (refuse(seq)) return false;
      seen.push(seq);
    }
    if (seen.length >= count) leaving.abort();
    return true;
  };
  const restart = () => {
    restarts += 1;
    seen.length = 0;
  };
  const refused = (why: ApiError) => {
    error = why;
  };
  await watch("w 1", { after: () => seen.at(-1) ?? 0, take, restart, status: (on) => live.push(on), refused }, leaving.signal);
  return { seen, live, restarts, error: error as ApiError | null };
}

test("after a break the stream goes on behind the last event", async () => {
  const asked: (string | undefined)[] = [];
  answers = [
    (request, response) => {
      asked.push(request.url);
      frames(response, 1, 2);
      response.end();
    },
    (request, response) => {
      asked.push(request.url, request.headers["last-event-id"] as string);
      frames(response, 3);
    },
  ];
  const { seen, live } = await watched(3);
  expect(seen).toEqual([1, 2, 3]);
  expect(asked).toEqual(["/v1/workstreams/w%201/events?after=0", "/v1/workstreams/w%201/events?after=2", "2"]);
  expect(live).toEqual([true, false, true]);
});

test("a console that fails is asked again", async () => {
  answers = [(_, response) => response.writeHead(503).end(), (_, response) => frames(response, 1)];
  expect((await watched(1)).seen).toEqual([1]);
});

test("a console that refuses is not asked again, and its reason is told", async () => {
  const problem = { status: 404, code: "not_found", detail: "No workstream has this id." };
  answers = [(_, response) => response.writeHead(404).end(JSON.stringify(problem))];
  const { error } = await watched(1);
  expect([error?.status, error?.message]).toEqual([404, "No workstream has this id."]);
});

test("where events are missing the stream is opened again", async () => {
  answers = [(_, response) => frames(response, 1, 9), (_, response) => frames(response, 2)];
  expect((await watched(2, (seq) => seq === 9)).seen).toEqual([1, 2]);
});

test("a gap that the console cannot close means reading everything anew", async () => {
  answers = [
    (_, response) => {
      frames(response, 5);
      response.write("event: gap\ndata: {}\n\n");
    },
    (_, response) => frames(response, 1, 2),
  ];
  const { seen, restarts } = await watched(2);
  expect([seen, restarts]).toEqual([[1, 2], 1]);
});
