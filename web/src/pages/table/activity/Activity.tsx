import { Checkbox } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { jobsQuery, verdictsQuery } from "../../../api/queries";
import type { Job, TablePath, Verdict } from "../../../api/types";
import { StateBadge } from "../../../components/badges";
import { sayOutcome } from "../../../components/JobList";
import { LoadMore } from "../../../components/LoadMore";
import { Empty, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { TimeAgo } from "../../../components/TimeAgo";
import { Weights } from "../../../components/Weights";
import { capitalize, formatDuration, pluralize } from "../../../lib/format";
import { useNow } from "../../../lib/now";
import { secondsBetween } from "../../../lib/time";
import { isDue } from "../../../lib/verdicts";
import { RULE_WORDS } from "../../../lib/words";

type Entry = { at: string; verdict: Verdict } | { at: string; job: Job };

/** Verdicts and jobs, newest first; at equal times a job stands above the verdict that led to it. */
export function mergeActivity(verdicts: Verdict[], jobs: Job[]): Entry[] {
  const entries = [
    ...jobs.map((job) => ({ at: job.created_at, job })),
    ...verdicts.map((verdict) => ({ at: verdict.at, verdict })),
  ];
  return entries.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function VerdictEntry({ verdict }: { verdict: Verdict }) {
  const now = useNow();
  const seconds = secondsBetween(verdict.at, verdict.until ?? new Date(now).toISOString());
  return (
    <div className="stack-tight">
      <div className="row">
        <span className={verdict.code === "planned" ? "badge badge-info" : "badge"}>
          {verdict.code === "planned" ? "Planned" : isDue(verdict.code) ? "Waits" : "Not needed"}
        </span>
        <span className="dim">for {formatDuration(Math.max(0, seconds ?? 0))}</span>
      </div>
      <p>{verdict.sentence}</p>
      <Weights cost={verdict.cost} score={verdict.score} />
    </div>
  );
}

function JobEntry({ job }: { job: Job }) {
  return (
    <div className="stack-tight">
      <div className="row">
        <StateBadge state={job.state} />
        <Link to="/jobs/$id" params={{ id: job.job_id }}>
          {RULE_WORDS[job.rule]}
        </Link>
        {job.requested_by !== "policy" && (
          <span className="dim">requested by a {job.requested_by}</span>
        )}
      </div>
      <p>{capitalize(sayOutcome(job))}</p>
    </div>
  );
}

export function ActivityList({ entries }: { entries: Entry[] }) {
  if (entries.length === 0) return <Empty title="Nothing was due yet" />;
  return (
    <ol className="timeline">
      {entries.map((entry) => (
        <li key={"job" in entry ? entry.job.job_id : entry.verdict.rule + entry.at}>
          <span className="num dim">
            <TimeAgo time={entry.at} />
          </span>
          {"job" in entry ? <JobEntry job={entry.job} /> : <VerdictEntry verdict={entry.verdict} />}
        </li>
      ))}
    </ol>
  );
}

/** The table's verdicts as they changed, and its jobs. */
export function Activity({ table, path }: { table: string; path: TablePath }) {
  const [showsAll, setShowsAll] = useState(false);
  const verdicts = useInfiniteQuery(verdictsQuery(path));
  const jobs = useInfiniteQuery(jobsQuery({ table, state: undefined })).data?.pages[0]?.items ?? [];
  return (
    <Panel
      title="Activity"
      aside={
        <Checkbox
          size="xs"
          label="Show skipped"
          checked={showsAll}
          onChange={() => setShowsAll(!showsAll)}
        />
      }
    >
      <Loaded query={verdicts} label="the activity">
        {({ pages }) => {
          const known = pages.flatMap((page) => page.items);
          const oldest = verdicts.hasNextPage ? (known.at(-1)?.at ?? "") : "";
          // A job older than the oldest loaded verdict would appear at a wrong position.
          const shown = jobs.filter((job) => job.created_at >= oldest);
          return (
            <>
              <ActivityList
                entries={mergeActivity(
                  showsAll ? known : known.filter((verdict) => isDue(verdict.code)),
                  shown,
                )}
              />
              <LoadMore
                query={verdicts}
                shown={`${known.length} of ${pluralize(pages[0]?.total ?? 0, "verdict")}`}
                words="Earlier"
              />
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}
