import { UNKNOWN } from "./format";

const STEPS = [
  ["d", 86400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;
const NOW_SECONDS = 5;

/** How long ago, or how soon: 3 min ago, in 2 h, just now. */
export function formatRelative(time: string | null | undefined, now: number): string {
  if (!time) return UNKNOWN;
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  const span = Math.abs(seconds);
  if (span < NOW_SECONDS) return "just now";
  const [unit, length] = STEPS.find(([, size]) => span >= size) ?? ["s", 1];
  const text = `${Math.floor(span / length)}\u00a0${unit}`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

/** The exact time in the reader's zone, with the zone. */
export function formatExact(time: string): string {
  return new Date(time).toLocaleString("en-GB", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}

/** The time of day to the minute, in the reader's zone. */
export function formatTime(time: string): string {
  return new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** The time of day to the second, in the reader's zone. */
export function formatClock(time: string): string {
  return new Date(time).toLocaleTimeString("en-GB");
}

/** Seconds between two instants; null when either is unknown. */
export function secondsBetween(start: string | null, end: string | null): number | null {
  return start && end ? (Date.parse(end) - Date.parse(start)) / 1000 : null;
}
