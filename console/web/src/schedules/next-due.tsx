/** What comes due in the next ten minutes, on a line. */

import type { Schedule } from "../api/types";
import { clock, counted } from "../design/format";
import { useNow } from "../design/now";

const SPAN_MS = 600_000;
const TICK_MS = 120_000;
const MARKS: Record<Schedule["kind"], string> = { watch: "w", once: "k", interval: "s", cron: "s" };
/** Names closer than this share of the line would lie on each other. */
const NAME_ROOM = 0.14;

interface Mark {
  schedule: Schedule;
  share: number;
  named: boolean;
}

export function NextDue({ schedules }: { schedules: readonly Schedule[] }) {
  const now = useNow();
  const marks = marksOf(schedules, now);
  const minute = (moment: number) => clock(new Date(moment).toISOString()).slice(0, 5);
  return (
    <section className="sc-next panel" aria-label="The next ten minutes">
      <header>
        <h2>Next ten minutes</h2>
        <span className="n">{marks.length === 0 ? "nothing comes due" : `${marks.length} due`}</span>
        <span className="end">times in UTC</span>
      </header>
      <div
        className="lane"
        role="img"
        aria-label={`${counted(marks.length, "schedule")} due between ${minute(now)} and ${minute(now + SPAN_MS)}`}
      >
        <span className="now">
          <b>{clock(new Date(now).toISOString())}</b>
        </span>
        {marks.map(({ schedule, share, named }) => (
          <span
            key={schedule.id}
            className={`due ${MARKS[schedule.kind]}`}
            style={{ left: `${share * 100}%` }}
            title={schedule.name}
          >
            {named && <em>{schedule.name}</em>}
          </span>
        ))}
        {ticksOf(now).map((moment) => (
          <span key={moment} className="tick" style={{ left: `${((moment - now) / SPAN_MS) * 100}%` }}>
            {minute(moment)}
          </span>
        ))}
      </div>
    </section>
  );
}

/** One mark a schedule, by time; a name where there is room for it. */
function marksOf(schedules: readonly Schedule[], now: number): Mark[] {
  const due = schedules
    .filter((one) => one.state === "active" && one.next_due)
    .map((schedule) => ({ schedule, share: Math.max(0, (Date.parse(schedule.next_due ?? "") - now) / SPAN_MS) }))
    .filter(({ share }) => share <= 1)
    .sort((a, b) => a.share - b.share);
  let free = NAME_ROOM / 2;
  return due.map(({ schedule, share }) => {
    const named = share >= free && share <= 1 - NAME_ROOM;
    if (named) free = share + NAME_ROOM;
    return { schedule, share, named };
  });
}

function ticksOf(now: number): number[] {
  const first = Math.ceil((now + 20_000) / TICK_MS) * TICK_MS;
  return [0, 1, 2, 3, 4].map((step) => first + step * TICK_MS).filter((moment) => moment < now + SPAN_MS - 20_000);
}
