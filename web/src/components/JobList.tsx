import { Link } from "@tanstack/react-router";
import type { Job } from "../api/types";
import { formatDuration, UNKNOWN } from "../lib/format";
import { useNow } from "../lib/now";
import { ROW_LINK } from "../lib/rowKeys";
import { secondsBetween } from "../lib/time";
import { FAILURE_WORDS, isFinal, RULE_WORDS } from "../lib/words";
import { JobProgress } from "./JobProgress";
import { StateBadge } from "./badges";
import { TableLink } from "./TableLink";
import { TimeAgo } from "./TimeAgo";

/** The result of a job in words. */
export function sayOutcome(job: Job): string {
  if (job.effect?.sentence) return job.effect.sentence;
  if (job.failure_reason)
    return `${FAILURE_WORDS[job.failure_reason]}${job.failure_message ? `: ${job.failure_message}` : ""}`;
  if (job.failure_message) return job.failure_message;
  if (!isFinal(job.state)) return job.progress.phase || job.reason;
  return job.cancel_requested_by ? `Cancelled by ${job.cancel_requested_by}` : job.reason;
}

/** Seconds on Spark, so far or in total; null before the start. */
export function durationOf(job: Job, now: number): number | null {
  const end =
    job.ended_at ?? job.finished_at ?? (isFinal(job.state) ? null : new Date(now).toISOString());
  return secondsBetween(job.started_at, end);
}

export function JobList({ jobs, isOfOneTable = false }: { jobs: Job[]; isOfOneTable?: boolean }) {
  const now = useNow();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label="The list of jobs">
      <table className="grid grid-cards" role="table">
        <caption className="hidden">Jobs, newest first</caption>
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              Action
            </th>
            {!isOfOneTable && (
              <th scope="col" role="columnheader">
                Table
              </th>
            )}
            <th scope="col" role="columnheader">
              State
            </th>
            <th scope="col" role="columnheader" className="num">
              Duration
            </th>
            <th scope="col" role="columnheader">
              Progress or effect
            </th>
            <th scope="col" role="columnheader" className="num">
              Created
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {jobs.map((job) => {
            const duration = durationOf(job, now);
            return (
              <tr key={job.job_id} role="row">
                <th scope="row" role="rowheader" className="cell-two">
                  <Link {...ROW_LINK} to="/jobs/$id" params={{ id: job.job_id }}>
                    {RULE_WORDS[job.rule]}
                  </Link>
                </th>
                {!isOfOneTable && (
                  <td role="cell" className="cell-wide job-table">
                    <TableLink name={job.table} />
                  </td>
                )}
                <td role="cell">
                  <StateBadge state={job.state} />
                </td>
                <td role="cell" className="num" data-label="Duration">
                  {duration === null ? UNKNOWN : formatDuration(Math.max(0, duration))}
                </td>
                <td role="cell" className="words cell-wide">
                  {isFinal(job.state) ? sayOutcome(job) : <JobProgress progress={job.progress} />}
                </td>
                <td role="cell" className="num" data-label="Created">
                  <TimeAgo time={job.created_at} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
