/** Where something will stand, shown only when it takes long. */

import { useEffect, useState } from "react";

const PATIENCE_MS = 300;

export function Bones() {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="body" aria-busy="true">
      <span className="vh" role="status">
        {shown ? "Loading" : ""}
      </span>
      {shown && (
        <div aria-hidden="true">
          <i className="bone w-1/2" />
          <i className="bone w-1/3" />
        </div>
      )}
    </div>
  );
}
