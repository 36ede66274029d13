/** Says aloud, at once, that a node was lost. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { overview } from "../api/queries";
import { counted } from "../design/format";

export function LostNodes() {
  const { data } = useQuery(overview);
  const lost = data?.nodes.lost;
  const before = useRef(lost);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (lost === undefined || lost === before.current) return;
    const more = lost > (before.current ?? 0);
    before.current = lost;
    setSaid(more ? `${counted(lost, "node")} lost` : "");
  }, [lost]);
  return (
    <p className="vh" role="alert">
      {said}
    </p>
  );
}
