/** The kinds of schedules that a person looks at apart. */

import type { Schedule } from "../api/types";
import { lives } from "./wording";

export interface ScheduleView {
  view: string;
  label: string;
  holds: (schedule: Schedule) => boolean;
}

export const ALL: ScheduleView = { view: "", label: "All", holds: lives };
export const VIEWS: ScheduleView[] = [
  ALL,
  { view: "watches", label: "Watches", holds: (one) => lives(one) && one.kind === "watch" },
  { view: "repeated", label: "Repeated", holds: (one) => lives(one) && (one.kind === "interval" || one.kind === "cron") },
  { view: "once", label: "Once", holds: (one) => lives(one) && one.kind === "once" },
  { view: "ended", label: "Ended", holds: (one) => !lives(one) },
];
