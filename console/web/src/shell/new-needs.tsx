/** Says aloud, when there is a pause, that more waits for this person. */

import { useEffect, useRef, useState } from "react";
import { useMine } from "./mine";

export function NewNeeds() {
  const mine = useMine();
  const before = useRef(mine);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (mine === before.current) return;
    const more = mine > before.current;
    before.current = mine;
    setSaid(more ? `${mine} need${mine === 1 ? "s" : ""} you` : "");
  }, [mine]);
  return (
    <p className="vh" role="status">
      {said}
    </p>
  );
}
