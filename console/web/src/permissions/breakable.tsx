/** A name that may break where its parts meet: acceptEdits, plan_mode_denied. */

import { Fragment } from "react";

export function Breakable({ name }: { name: string }) {
  return name.split(/(?<=_)|(?=[A-Z])/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
