/** How much of a node is in use: its slots, its machine. */

const MOST_MARKS = 24;

/** A mark for each slot, or a bar where they are many. */
export function Slots({ busy, slots }: { busy: number; slots: number }) {
  const label = `${busy} of ${slots} slots in use`;
  if (slots > MOST_MARKS) return <Bar label={label} value={busy} most={slots} />;
  return (
    <span className="slots" role="img" aria-label={label}>
      {Array.from({ length: slots }, (_, index) => (
        <i key={index} className={index < busy ? "on" : undefined} />
      ))}
    </span>
  );
}

/** The machine's load over the last minute: full at 1. */
export function Load({ load }: { load: number }) {
  const percent = Math.round(load * 100);
  return (
    <>
      <Bar label={`load ${percent} %`} value={Math.min(percent, 100)} most={100} />
      <span className={load > 1 ? "c-reed" : "muted"}>{percent} %</span>
    </>
  );
}

function Bar({ label, value, most }: { label: string; value: number; most: number }) {
  const look = value >= most ? "full" : undefined;
  return (
    <span className="meter" role="meter" aria-label={label} aria-valuenow={value} aria-valuemin={0} aria-valuemax={most}>
      <span className="track">{value > 0 && <i className={look} style={{ width: `${(value / most) * 100}%` }} />}</span>
    </span>
  );
}
