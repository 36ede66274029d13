/** What stands where the page itself broke. */

import { Component, type ReactNode } from "react";
import { Glyph } from "./glyph";

interface BoundaryState {
  broken: Error | null;
}

export class Boundary extends Component<{ children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { broken: null };

  static getDerivedStateFromError(broken: Error): BoundaryState {
    return { broken };
  }

  override render(): ReactNode {
    const { broken } = this.state;
    if (!broken) return this.props.children;
    return (
      <div className="body">
        <div className="notice bad" role="alert">
          <Glyph name="fail" />
          <p>
            <b>The page broke while it drew this.</b> Nothing is lost: the log is on the cluster. Load the page anew; if it
            breaks again, report this: {broken.message}
          </p>
          <button type="button" className="btn sm" onClick={() => window.location.reload()}>
            Load anew
          </button>
        </div>
      </div>
    );
  }
}
