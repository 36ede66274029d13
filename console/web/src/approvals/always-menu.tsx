/** Where "always" reaches: a person's rules, or the project's. */

import { useQuery } from "@tanstack/react-query";
import { me } from "../api/queries";
import type { Reach } from "../api/types";
import { Icon } from "../design/glyph";
import { Popover } from "../design/popover";

interface AlwaysMenuProps {
  id: string;
  pattern: string;
  owner: string;
  reach: readonly Reach[];
  onUser: () => void;
  onProject: () => void;
}

export function AlwaysMenu({ id, pattern, owner, reach, onUser, onProject }: AlwaysMenuProps) {
  const { data } = useQuery(me);
  const own = data?.name === owner;
  const whole = reach.includes("always");
  const admin = data?.scopes.includes("admin") ?? false;
  return (
    <Popover id={id} className="menu">
      <button type="button" disabled={!whole} onClick={onUser}>
        <Icon name="human" />
        <span>{own ? "For me, everywhere" : `For ${owner}, everywhere`}</span>
        <small>
          Adds <code>{pattern}</code> allow to {own ? "your" : "their"} user rules: every input, every workstream.
          {!whole && ` Needs ${owner} or an admin.`}
        </small>
      </button>
      <button type="button" disabled={!admin} onClick={onProject}>
        <Icon name="file" />
        <span>In the project</span>
        <small>
          Adds <code>{pattern}</code> allow to the project&rsquo;s rules: for everyone who works there.{!admin && " Needs an admin."}
        </small>
      </button>
    </Popover>
  );
}
