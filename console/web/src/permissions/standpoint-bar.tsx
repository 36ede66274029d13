/** Whose matrix stands here: a profile's, or a workstream's. */

import { useQuery } from "@tanstack/react-query";
import { profiles } from "../api/decision-queries";
import { glimpse } from "../api/queries";
import type { View } from "../api/types";
import { namingOf } from "../design/naming";
import { Badge } from "./badge";

export interface Stand {
  /** Empty for the tools that live nodes have. */
  profile: string;
  /** The id of a workstream, whose own rules count too; empty for none. */
  workstream: string;
}

const NEWEST = 100;
export const newest = glimpse("", NEWEST);

export function StandpointBar({ stand, onStand }: { stand: Stand; onStand: (stand: Stand) => void }) {
  const known = useQuery(profiles).data?.items ?? [];
  const workstreams = useQuery(newest).data?.items ?? [];
  const choose = (id: string) => {
    const view: View | undefined = workstreams.find((one) => one.id === id);
    onStand({ workstream: id, profile: view ? view.profile : stand.profile });
  };
  return (
    <div className="pm-bar">
      <label className="inl">
        <span>profile</span>
        <select className="input" value={stand.profile} onChange={(event) => onStand({ ...stand, profile: event.target.value })}>
          <option value="">on the nodes now</option>
          {known.map((profile) => (
            <option key={profile.name}>{profile.name}</option>
          ))}
        </select>
      </label>
      <label className="inl">
        <span>workstream</span>
        <select className="input" value={stand.workstream} onChange={(event) => choose(event.target.value)}>
          <option value="">none</option>
          {workstreams.map((view) => (
            <option key={view.id} value={view.id}>
              {namingOf(view).called}
            </option>
          ))}
        </select>
      </label>
      <span className="grow" />
      <span className="key">
        <Badge decision="allow" />
        <Badge decision="ask" />
        <Badge decision="deny" />
        <span>
          <i className="moved" />
          the mode decided
        </span>
      </span>
    </div>
  );
}
