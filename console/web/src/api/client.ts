/** The one door to the console over HTTP. */

import type { Problem } from "./types";

const TRIES = 3;
const PAUSE_MS = 400;

/** An answer that is no success: `detail` says the mend, `field` names the input to blame; status 0 is no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;

  constructor(problem: Problem) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.field = problem.field;
  }
}

type Refusal = () => void;
let refused: Refusal = () => undefined;
let known = false;

/** Says what happens when the console no longer knows who we are. */
export function onUnauthenticated(act: Refusal): void {
  refused = act;
}

/** Whether the console has answered us since the page was loaded: a refusal then means that a session ended. */
export function wasKnown(): boolean {
  return known;
}

/** Tells the same from a stream that was refused. */
export function reportUnauthenticated(): void {
  refused();
}

/** Reads JSON from a path such as `/v1/me`; throws ApiError. */
export async function read<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  const response = await reach(path, signal ? { signal } : {});
  return (await decoded(response, path)) as Answer;
}

/** Reads text from a path, whatever it is; throws ApiError. */
export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await reach(path, signal ? { signal } : {});
  if (response.ok) return response.text();
  if (response.status === 401) refused();
  throw await problemOf(response);
}

/**
 * Writes with an idempotency key, so that a try whose answer was lost can be made again without doing it twice.
 * Throws ApiError.
 */
export function write<Answer>(path: string, body: object = {}): Promise<Answer> {
  return sent(path, { method: "POST", body: JSON.stringify(body) });
}

/** Takes something away, in the same manner. Throws ApiError. */
export function remove<Answer>(path: string): Promise<Answer> {
  return sent(path, { method: "DELETE" });
}

async function sent<Answer>(path: string, what: RequestInit): Promise<Answer> {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": randomKey(), "X-Redshank": "1" };
  const request: RequestInit = { ...what, headers };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await decoded(await reach(path, request), path)) as Answer;
    } catch (error) {
      const unanswered = error instanceof ApiError && (error.status === 0 || error.status === 503);
      if (!unanswered || attempt === TRIES) throw error;
      await new Promise((resume) => setTimeout(resume, PAUSE_MS * attempt));
    }
  }
}

/** The problem that a response states, or what can be said about one that states none. */
export async function problemOf(response: Response): Promise<ApiError> {
  let stated: Partial<Problem> = {};
  try {
    stated = (await response.json()) as Partial<Problem>;
  } catch {
    stated = {};
  }
  const { code = "error", detail = `The console answered ${response.status}. Its log says why.`, field } = stated;
  return new ApiError({ status: response.status, code, detail, ...(field ? { field } : {}) });
}

/** A key that nobody else picks; also where the page is not served over a secure origin. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function reach(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", ...request });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    const detail = "The console does not answer at this address. Check that it runs, then try again.";
    throw new ApiError({ status: 0, code: "unreachable", detail });
  }
}

async function decoded(response: Response, path: string): Promise<unknown> {
  if (response.status === 401 && path !== "/v1/signin") refused();
  if (!response.ok) throw await problemOf(response);
  known = true;
  return response.status === 204 ? {} : ((await response.json()) as unknown);
}
