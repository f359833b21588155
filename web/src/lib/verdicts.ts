import type { Plan, Planned, SkipCode, Skipped } from "../api/types";

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

/** A rule that would do something and may not yet. */
export function isWaiting(skipped: Skipped): boolean {
  return WAITING.includes(skipped.code);
}

/** What a history tells at first sight: what was due, whether it could run or not. */
export function isDue(code: string): boolean {
  return code === "planned" || WAITING.some((waiting) => waiting === code);
}

/** Of the verdicts that hold something back, the one that says most: what is due and waits, then what would achieve nothing, then the rest. */
export function mainObstacle(plan: Plan): Skipped | undefined {
  return plan.skipped.find(isWaiting) ?? plan.skipped.find((skipped) => skipped.code === "nothing_to_gain") ?? plan.skipped[0];
}

export interface NextStep {
  kind: "start" | "look" | "change";
  rules: (Planned | Skipped)[];
  at: string | null;
}

/** What happens to a table next: planned actions start, else the next look at one that is due, else the next look at all, else a change of the table. */
export function nextStep(plan: Plan): NextStep {
  if (plan.planned.length > 0) return { kind: "start", rules: plan.planned, at: null };
  const timed = plan.skipped.filter((skipped) => skipped.next_at !== null).sort((a, b) => (a.next_at ?? "").localeCompare(b.next_at ?? ""));
  const [first] = [...timed.filter(isWaiting), ...timed];
  return first ? { kind: "look", rules: [first], at: first.next_at } : { kind: "change", rules: [], at: null };
}
