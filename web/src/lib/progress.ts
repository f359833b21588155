import type { Job, Stage } from "../api/types";
import { capitalize, formatBytes, formatCount, formatDuration } from "./format";
import { secondsBetween } from "./time";
import { STAGE_WORDS } from "./words";

const PERCENT = 100;

export const STAGES: readonly Stage[] = [
  "waiting",
  "starting",
  "preparing",
  "working",
  "checking",
  "proving",
];

interface ProgressWords {
  /** The stage that the job is in, as the daemon calls it. */
  stage: string;
  /** The stage's counts: file groups where known; the total of tasks changes. */
  figures: string;
  /** The share of the whole job that is done; it never falls. */
  percent: number;
}

/** How far a job is, in words and in percent. */
export function describeProgress(progress: Job["progress"], now: number): ProgressWords {
  const { file_groups_done, file_groups_total, tasks_done } = progress;
  const left = secondsBetween(new Date(now).toISOString(), progress.ends_at);
  const figures = [
    file_groups_total
      ? `${formatCount(file_groups_done ?? 0)} of ${formatCount(file_groups_total)} file groups`
      : tasks_done && `${formatCount(tasks_done)} ${tasks_done === 1 ? "task" : "tasks"} done`,
    progress.bytes_read && `${formatBytes(progress.bytes_read)} read`,
    progress.bytes_written && `${formatBytes(progress.bytes_written)} written`,
    left !== null && left > 0 && `about ${formatDuration(left)} left`,
  ].filter(Boolean);
  return {
    stage: capitalize(progress.phase) || STAGE_WORDS[progress.stage],
    figures: figures.join(", "),
    percent: PERCENT * progress.share,
  };
}
