/** Shown for an unknown value; never 0. */
export const UNKNOWN = "–";

const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A number with commas between its thousands, as in the server's sentences: 1,631. */
export function formatCount(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  const [whole = "", fraction] = Math.abs(value)
    .toFixed(Number.isInteger(value) ? 0 : 1)
    .split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (value < 0 ? "−" : "") + grouped + (fraction ? `.${fraction}` : "");
}

const COUNT_UNITS = ["", "k", "M", "G", "T"] as const;
const FULL_BELOW = 10_000;

/** A number for a narrow cell: 1,631, and 79.8 M from 10,000 on. */
export function formatShort(value: number | null | undefined): string {
  if (value === null || value === undefined || Math.abs(value) < FULL_BELOW)
    return formatCount(value);
  let rest = value;
  let unit = 0;
  while (Math.abs(Number(rest.toPrecision(3))) >= 1000 && unit < COUNT_UNITS.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${String(Number(rest.toPrecision(3))).replace("-", "−")}\u00a0${COUNT_UNITS[unit] ?? ""}`;
}

/** A size in binary units with one decimal digit, as in the server's sentences: 1.5 MiB. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  let value = Math.abs(bytes);
  let unit = 0;
  // 1,023.97 KiB would be written 1024.0 KiB.
  while (Number(value.toFixed(1)) >= 1024 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Number.isInteger(value) ? 0 : 1;
  return `${bytes < 0 ? "−" : ""}${value.toFixed(digits)}\u00a0${SIZE_UNITS[unit] ?? ""}`;
}

/** A ratio between 0 and 1 as a percentage; only exact 0 and 1 become 0 % and 100 %. */
export function formatRatio(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined) return UNKNOWN;
  const percent = ratio * 100;
  if (percent > 0 && percent < 1) return "<1\u00a0%";
  if (percent < 100 && percent > 99) return ">99\u00a0%";
  return `${Math.round(percent)}\u00a0%`;
}

/** How many times as much, with two significant digits: 1.8×, 9.1×, 1×. */
export function formatFactor(factor: number): string {
  return `${Number(factor.toPrecision(2))}×`;
}

/** A number for people to compare, with three significant digits: 0.0312, 28,600, 1,440. */
export function formatSignificant(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return Math.abs(rounded) >= 100
    ? formatCount(Math.round(rounded))
    : String(rounded).replace("-", "−");
}

/** A time span in its two largest units: 2 h 5 min, 41.3 s. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  if (Math.round(seconds) < 60) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))}\u00a0s`;
  const units = [
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const;
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [name, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count}\u00a0${name}`);
  }
  return parts.slice(0, 2).join(" ");
}

/** The change from before to after with its sign; nothing when either is unknown. */
export function formatDifference(
  before: number | null,
  after: number | null,
  format: (value: number) => string,
): string {
  if (before === null || after === null) return UNKNOWN;
  if (before === after) return "no change";
  return (after > before ? "+" : "−") + format(Math.abs(after - before));
}

/** A word with its number: 1 file, 2 files. */
export function pluralize(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** A text that begins like a sentence. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The first sentence of a text, and what follows it. */
export function splitFirstSentence(text: string): [string, string] {
  const end = /\.(?=\s)/.exec(text);
  return end ? [text.slice(0, end.index + 1), text.slice(end.index + 1).trim()] : [text, ""];
}
