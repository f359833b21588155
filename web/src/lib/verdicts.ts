import type { SkipCode } from "../api/types";

/** Due, and held back by something that passes. */
const WAITING: readonly SkipCode[] = [
  "in_flight",
  "outside_window",
  "cooling_down",
  "over_budget",
  "hot_partition",
  "not_quiet",
  "paused",
  "observe_only",
];

/** What a history tells at first sight: what was due, whether it could run or not. */
export function isDue(code: string): boolean {
  return code === "planned" || WAITING.some((waiting) => waiting === code);
}
