/** What a person can do to workstreams, schedules, the session: one call each. All throw ApiError. */

import { remove, write } from "./client";
import type { Answer, Check, Difference, Matrix, NewRule, Rule, Standpoint, Trial } from "./decision-types";
import type { Mode, NewSchedule, NewWorkstream, Resolution, Schedule, View, When } from "./types";

const at = (id: string, verb: string) => `/v1/workstreams/${encodeURIComponent(id)}/${verb}`;

export const create = (body: NewWorkstream) => write<View>("/v1/workstreams", body);
export const send = (id: string, text: string, when: When) => write<{ seq: number }>(at(id, "messages"), { text, when });
export const resolve = (id: string, resolution: Resolution) =>
  write<View>(at(id, "approvals"), { resolutions: [resolution] });
export const answer = (id: string, answers: readonly Answer[]) => write<View>(at(id, "questions"), { answers });
export const declineQuestion = (id: string, request: string) =>
  write<View>(at(id, `questions/${encodeURIComponent(request)}/cancel`));
export const cancel = (id: string) => write<View>(at(id, "cancel"));
export const close = (id: string) => write<View>(at(id, "close"));
export const retry = (id: string) => write<View>(at(id, "retry"));
export const fork = (id: string, after: number) => write<View>(at(id, "fork"), { after });
export const setMode = (id: string, mode: Mode) => write<View>(at(id, "mode"), { mode });
export const signIn = (secret: { code: string } | { token: string }) => write<object>("/v1/signin", secret);
export const signOut = () => write<object>("/v1/signout");

const ofSchedule = (id: string, verb: string) => `/v1/schedules/${encodeURIComponent(id)}/${verb}`;

export const createSchedule = (body: NewSchedule) => write<Schedule>("/v1/schedules", body);
export const pauseSchedule = (id: string) => write<Schedule>(ofSchedule(id, "pause"));
export const resumeSchedule = (id: string) => write<Schedule>(ofSchedule(id, "resume"));
export const cancelSchedule = (id: string) => write<Schedule>(ofSchedule(id, "cancel"));
export const triggerSchedule = (id: string) => write<Schedule>(ofSchedule(id, "trigger"));

export const addRule = (body: NewRule) => write<Rule>("/v1/permissions/rules", body);
/** Take back what was allowed for one workstream. */
export const revokeGrant = (id: string, pattern: string) => write<View>(at(id, "revoke-grant"), { pattern });
export const removeRule = (id: string) => remove<Rule>(`/v1/permissions/rules/${encodeURIComponent(id)}`);

/** Dry runs: they answer what would be decided, and change nothing. */
export const check = (body: Standpoint & { tool: string; mode?: Mode; input?: Record<string, unknown> }) =>
  write<Check>("/v1/permissions/check", body);
export const matrix = (body: Standpoint) => write<Matrix>("/v1/permissions/matrix", body);
export const compare = (body: { before?: string; after?: string; profile?: string }) =>
  write<Difference>("/v1/permissions/diff", body);
export const tryPolicy = (policy: string, profile: string) => write<Trial>("/v1/permissions/test", { policy, profile });
