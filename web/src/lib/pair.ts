import type { Job } from "../api/types";
import { formatCount } from "./format";

/** What a job is about, before and after it. */
export interface Pair {
  before: number;
  after: number;
  unit: string;
}

/** The numbers that a job has changed, the first one that tells its success; null: none known. */
export function findPair(job: Job): Pair | null {
  const { effect } = job;
  const { before, after } = effect ?? {};
  if (!before || !after) return null;
  const pairs: Partial<Record<Job["rule"], [number | null, number | null, string]>> = {
    rewrite_data_files: [before.data_files, after.data_files, "files"],
    rewrite_position_delete_files: [before.delete_files, after.delete_files, "delete files"],
    rewrite_manifests: [before.manifests, after.manifests, "manifests"],
    expire_snapshots: [before.snapshots, after.snapshots, "snapshots"],
    roll_back: [before.data_files, after.data_files, "files"],
  };
  const [first, second, unit] = pairs[job.rule] ?? [null, null, ""];
  return first === null || second === null ? null : { before: first, after: second, unit };
}

export const sayPair = ({ before, after, unit }: Pair): string =>
  `${formatCount(before)} → ${formatCount(after)} ${unit}`;

const DAY_MS = 86_400_000;

/** The finished jobs of the last 24 hours that have a pair; `jobs` is the newest first. */
function findDay(jobs: Job[], now: number): Job[] {
  return jobs.filter(
    (job) =>
      job.state === "succeeded" &&
      findPair(job) !== null &&
      now - Date.parse(job.ended_at ?? job.finished_at ?? "") < DAY_MS,
  );
}

/** The job that a table's page begins with: of the last day, one about files before any other. */
export function findHeadline(jobs: Job[], now: number): Job | null {
  const day = findDay(jobs, now);
  return day.find((job) => findPair(job)?.unit === "files") ?? day[0] ?? null;
}

/** What the last day achieved, of each unit from its first value to its last; a roll back counts. */
export function sumDay(jobs: Job[], now: number): Pair[] {
  const sums = new Map<string, Pair>();
  for (const job of findDay(jobs, now)) {
    const pair = findPair(job);
    if (!pair) continue;
    const later = sums.get(pair.unit);
    sums.set(pair.unit, { ...pair, after: later?.after ?? pair.after });
  }
  // The files first: they are what readers feel.
  return [...sums.values()].sort((a, b) => Number(b.unit === "files") - Number(a.unit === "files"));
}

/** What is certain of a finished job's rows. */
export function proofOf(job: Job): { word: string; tone: "healthy" | "watch" | "critical" } | null {
  if (job.state === "failed") return { word: "failed", tone: "critical" };
  if (job.state !== "succeeded" || !job.effect) return null;
  switch (job.effect.rows) {
    case "different":
      return { word: "rows differ", tone: "critical" };
    case "unknown":
      return { word: "not proved", tone: "watch" };
    case "bounded":
      return { word: "consistent", tone: "healthy" };
    default:
      return { word: "proved", tone: "healthy" };
  }
}
