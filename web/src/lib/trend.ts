/** The path of a small chart. */
export interface Trend {
  path: string;
  end: [number, number];
  first: number;
  last: number;
}

/** Room for the line's width and the dot at its end, in pixels. */
const MARGIN = 3;

/** A line of steps, as each value lasts until the next; null without two known samples. */
export function layOutTrend(
  samples: { at: string; value: number | null }[],
  width: number,
  height: number,
): Trend | null {
  const known = samples.flatMap(({ at, value }) =>
    value === null ? [] : [{ at: Date.parse(at), value }],
  );
  const [first] = known;
  const last = known.at(-1);
  if (!first || !last || known.length < 2) return null;
  const values = known.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (at: number) =>
    MARGIN + ((at - first.at) / (last.at - first.at || 1)) * (width - 2 * MARGIN);
  // A value that never changed lies in the middle.
  const y = (value: number) =>
    high === low
      ? height / 2
      : height - MARGIN - ((value - low) / (high - low)) * (height - 2 * MARGIN);
  const round = (value: number) => Math.round(value * 10) / 10;
  const steps = known
    .slice(1)
    .map(({ at, value }) => `H${round(x(at))}V${round(y(value))}`)
    .join("");
  return {
    path: `M${round(x(first.at))} ${round(y(first.value))}${steps}`,
    end: [round(x(last.at)), round(y(last.value))],
    first: first.value,
    last: last.value,
  };
}
