import type { SkipCode } from "../api/types";

/** Due, but not now: the reason will pass. */
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

/** True for verdicts that the activity lists at first: due, whether started or not. */
export function isDue(code: string): boolean {
  return code === "planned" || WAITING.some((waiting) => waiting === code);
}
