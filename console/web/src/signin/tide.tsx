/** Water at the foot of the sign-in page: longer and fainter waves the nearer they come. */

interface Wave {
  y: number;
  half: number;
  height: number;
  opacity: number;
}

const WIDTH = 1440;
const WAVES: Wave[] = [
  { y: 18, half: 120, height: 6.4, opacity: 0.9 },
  { y: 46, half: 146, height: 5.9, opacity: 0.75 },
  { y: 78, half: 172, height: 5.4, opacity: 0.6 },
  { y: 114, half: 198, height: 4.9, opacity: 0.5 },
  { y: 154, half: 224, height: 4.4, opacity: 0.4 },
  { y: 198, half: 250, height: 3.9, opacity: 0.3 },
  { y: 246, half: 276, height: 3.4, opacity: 0.22 },
];

export function Tide() {
  return (
    <svg className="tide" viewBox={`0 0 ${WIDTH} 220`} preserveAspectRatio="none" aria-hidden="true">
      {WAVES.map((wave) => (
        <path key={wave.y} d={pathOf(wave)} style={{ opacity: wave.opacity }} />
      ))}
    </svg>
  );
}

function pathOf({ y, half, height }: Wave): string {
  const count = Math.ceil(WIDTH / half);
  const arcs = Array.from({ length: count }, (_, at) => `q${half / 2} ${at % 2 ? -height : height} ${half} 0`);
  return `M0 ${y} ${arcs.join(" ")}`;
}
