/** One schedule, with what a person can do to it. */

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { cancelSchedule, pauseSchedule, resumeSchedule, triggerSchedule } from "../api/commands";
import { queryClient, schedules } from "../api/queries";
import type { Schedule } from "../api/types";
import { fullTime } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import type { Naming } from "../design/naming";
import { say, sayError } from "../design/toast";
import { workstreamPath } from "../shell/route";
import { CancelDialog } from "./cancel-dialog";
import { dueIn, exactly, ICONS, lives, resultOf, whenOf } from "./wording";

interface ScheduleRowProps {
  schedule: Schedule;
  /** What its workstream is called, where that is known. */
  naming: Naming | undefined;
  at: boolean;
  now: number;
}

export function ScheduleRow({ schedule, naming, at, now }: ScheduleRowProps) {
  const result = resultOf(schedule, now);
  const due = schedule.next_due;
  return (
    <tr id={`row-${schedule.id}`} className={at ? "at" : undefined}>
      <td className="two c-name">
        <span className="flex">
          <span className="faint kind" title={schedule.kind}>
            <Icon name={ICONS[schedule.kind]} className="i-sm" />
            <span className="vh">{schedule.kind}</span>
          </span>
          <span className="name clip">{schedule.name}</span>
        </span>
        <a
          className={naming && !naming.words ? "sub2 mono" : "sub2"}
          href={workstreamPath(schedule.workstream)}
          title={schedule.workstream}
        >
          {naming?.called ?? schedule.workstream}
        </a>
      </td>
      <td className="c-when" title={schedule.message}>
        <span>{whenOf(schedule)}</span>
        <small className="sub2 mono" title={exactly(schedule)}>
          {exactly(schedule)}
        </small>
      </td>
      <td className={`c-next ${schedule.state === "active" ? "" : "faint"}`} title={due ? fullTime(due) : undefined}>
        {dueIn(schedule, now)}
      </td>
      <td className="c-last">
        <span className={`st st-${result.glyph}`}>
          <Glyph name={result.glyph} />
          {result.words}
        </span>
        <small className="sub2" title={result.beside}>
          {result.beside}
        </small>
      </td>
      <td className="num muted c-runs">{schedule.runs}</td>
      <td className="act">{lives(schedule) && <Acts schedule={schedule} />}</td>
    </tr>
  );
}

function Acts({ schedule: { id, name, state } }: { schedule: Schedule }) {
  const [cancelling, setCancelling] = useState(false);
  const paused = state === "paused";
  const turn = useAct(paused ? resumeSchedule : pauseSchedule, paused ? `${name} goes on` : `${name} is paused`);
  const trigger = useAct(triggerSchedule, `${name} was started by hand`);
  const cancel = useAct(cancelSchedule, `${name} was cancelled`);
  const verb = paused ? "Resume" : "Pause";
  return (
    <span className="btns">
      <button
        type="button"
        className="btn sm icon"
        aria-label={`${verb} ${name}`}
        title={verb}
        aria-busy={turn.isPending}
        onClick={() => turn.mutate(id)}
      >
        <Icon name={paused ? "play" : "pause"} />
      </button>
      {!paused && (
        <button
          type="button"
          className="btn sm"
          aria-label={`Run now: ${name}`}
          aria-busy={trigger.isPending}
          onClick={() => trigger.mutate(id)}
        >
          Run now
        </button>
      )}
      <button
        type="button"
        className="btn sm icon quiet"
        aria-label={`Cancel ${name}`}
        title="Cancel"
        aria-busy={cancel.isPending}
        onClick={() => setCancelling(true)}
      >
        <Icon name="x" />
      </button>
      {cancelling && (
        <CancelDialog
          name={name}
          onKeep={() => setCancelling(false)}
          onCancel={() => {
            setCancelling(false);
            cancel.mutate(id);
          }}
        />
      )}
    </span>
  );
}

/** An act on a schedule, after which the list is read anew. */
function useAct(act: (id: string) => Promise<object>, done: string) {
  return useMutation({
    mutationFn: act,
    onSuccess: () => say(done),
    onError: sayError,
    onSettled: () => queryClient.invalidateQueries({ queryKey: schedules.queryKey }),
  });
}
