/** The files that were read or changed, with the time of the last change. */

import { clock, fullTime } from "../design/format";
import { Icon } from "../design/glyph";
import type { TouchedFile } from "./files";

export function FilesList({ files }: { files: TouchedFile[] }) {
  return (
    <div className="prev">
      {files.length === 0 && <p className="px-3 py-4 text-ink-3">No file read or changed yet.</p>}
      <ul className="rows files">
        {files.map(({ path, changedAt, at }) => (
          <li key={path} title={fullTime(at)}>
            <Icon name="file" className="i-sm" />
            <span className="mono clip grow">{path}</span>
            {changedAt ? <span className="tag warn">changed {clock(changedAt).slice(0, 5)}</span> : <span className="faint">read</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
