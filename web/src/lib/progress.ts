import type { Job } from "../api/types";
import { formatBytes, formatCount, formatDuration } from "./format";
import { secondsBetween } from "./time";

const PERCENT = 100;

/** How far a job is, in words and in percent: by file groups where there are some. Null percent while Spark does not say. */
export function describeProgress(progress: Job["progress"], now: number): { words: string; percent: number | null } {
  const counted = progress.file_groups_total
    ? { done: progress.file_groups_done ?? 0, total: progress.file_groups_total, unit: "file groups" }
    : progress.tasks_total
      ? { done: progress.tasks_done ?? 0, total: progress.tasks_total, unit: "tasks" }
      : null;
  const left = secondsBetween(new Date(now).toISOString(), progress.ends_at);
  const words = [
    counted && `${formatCount(counted.done)} of ${formatCount(counted.total)} ${counted.unit}`,
    progress.bytes_read && `${formatBytes(progress.bytes_read)} read`,
    progress.bytes_written && `${formatBytes(progress.bytes_written)} written`,
    left !== null && left > 0 && `about ${formatDuration(left)} left`,
  ].filter(Boolean);
  return { words: words.join(", "), percent: counted && Math.min(PERCENT, (PERCENT * counted.done) / counted.total) };
}
