import { Button, Modal } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { useJobEvents } from "../../api/events";
import { jobQuery, useCancel } from "../../api/queries";
import type { Job } from "../../api/types";
import { StateBadge } from "../../components/badges";
import { EstimateWords } from "../../components/EstimateWords";
import { FindingList } from "../../components/FindingWords";
import { durationOf } from "../../components/JobList";
import { JobProgress, StageList } from "../../components/JobProgress";
import { ErrorNotice, Loaded, Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { Statement } from "../../components/Statement";
import { TableLink } from "../../components/TableLink";
import { TimeAgo } from "../../components/TimeAgo";
import { capitalize, formatDuration } from "../../lib/format";
import { useNow } from "../../lib/now";
import { FAILURE_WORDS, isFinal, RULE_WORDS } from "../../lib/words";
import { findPair } from "../../lib/pair";
import { Headline } from "../../components/Headline";
import { BeforeAfter, LiveRows } from "./BeforeAfter";
import { DriverFacts } from "./DriverFacts";
import { LogPanel } from "./LogPanel";
import { RoleButton } from "../../components/RoleButton";
import { RetryButton, retriedRule } from "./RetryButton";
import { mayBeUndone, RollBackButton } from "./RollBackButton";
import { Timeline } from "./Timeline";

const route = getRouteApi("/jobs/$id");
const PAGE_HEIGHT = 600;

function CancelButton({ job }: { job: Job }) {
  const cancel = useCancel(job);
  const [isAsking, setAsking] = useState(false);
  if (job.cancel_requested_by)
    return <span className="dim">Cancellation requested by {job.cancel_requested_by}</span>;
  return (
    <>
      <RoleButton role="operator" table={job.table} onClick={() => setAsking(true)}>
        Cancel…
      </RoleButton>
      <Modal
        opened={isAsking}
        onClose={() => setAsking(false)}
        title="Cancel this job?"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <div className="stack">
          <p>Spark stops the job. Uncommitted work is discarded.</p>
          {cancel.error && <ErrorNotice error={cancel.error} />}
          <div className="actions">
            <Button
              variant="filled"
              loading={cancel.isPending}
              onClick={() => cancel.mutate(undefined, { onSuccess: () => setAsking(false) })}
            >
              Cancel the job
            </Button>
            <Button onClick={() => setAsking(false)}>Keep running</Button>
          </div>
        </div>
      </Modal>
    </>
  );
}

function Times({ job }: { job: Job }) {
  const duration = durationOf(job, useNow());
  return (
    <dl className="description">
      <dt>Requested by</dt>
      <dd>{job.requested_by}</dd>
      <dt>Policy version</dt>
      <dd className="mono">{job.policy}</dd>
      <dt>Created</dt>
      <dd>
        <TimeAgo time={job.created_at} />
      </dd>
      <dt>Started</dt>
      <dd>
        <TimeAgo time={job.started_at} />
      </dd>
      <dt>Finished</dt>
      <dd>
        <TimeAgo time={job.finished_at} />
      </dd>
      <dt>Time on Spark</dt>
      <dd>{formatDuration(duration === null ? null : Math.max(0, duration))}</dd>
      {job.executor_seconds != null && (
        <>
          <dt>Time of executors</dt>
          <dd>{formatDuration(job.executor_seconds)}</dd>
        </>
      )}
      {job.size && (
        <>
          <dt>Job size</dt>
          <dd>
            {job.size}: <span className="dim">{job.size_reason}</span>
          </dd>
        </>
      )}
      {job.pool !== "default" && (
        <>
          <dt>Pool</dt>
          <dd>{job.pool}</dd>
        </>
      )}
      {job.driver && <DriverFacts driver={job.driver} />}
      <dt>Job</dt>
      <dd className="mono">{job.job_id}</dd>
    </dl>
  );
}

function JobDetail({ job }: { job: Job }) {
  const again = retriedRule(job);
  return (
    <>
      <div className="row row-apart">
        <div className="row">
          <h1>{RULE_WORDS[job.rule]}</h1>
          <StateBadge state={job.state} large />
        </div>
        {!isFinal(job.state) && <CancelButton job={job} />}
        {mayBeUndone(job) && <RollBackButton job={job} />}
        {again && <RetryButton job={job} rule={again} />}
      </div>
      <p>
        on <TableLink name={job.table} />
      </p>
      {!isFinal(job.state) && (
        <JobProgress progress={job.progress}>
          <StageList stage={job.progress.stage} />
        </JobProgress>
      )}
      {(job.failure_reason ?? job.failure_message) && (
        <Notice
          tone="critical"
          title={job.failure_reason ? FAILURE_WORDS[job.failure_reason] : "Failed"}
        >
          {job.failure_message && <p>{job.failure_message}</p>}
        </Notice>
      )}
      {job.state === "unknown" && (
        <Notice tone="watch" title="The runner was lost">
          <p>
            The table’s snapshots show whether the work was committed. The job’s state follows from
            them.
          </p>
        </Notice>
      )}
      <Headline job={job}>{job.effect && <LiveRows effect={job.effect} />}</Headline>
      {job.effect && (
        <BeforeAfter
          effect={job.effect}
          errors={job.estimate_errors}
          fold={findPair(job) ? "closed" : "open"}
        />
      )}
      <div className="stack">
        <Panel title="Why" fold={isFinal(job.state) ? "closed" : "open"}>
          <div className="stack-tight">
            <p>{capitalize(job.reason)}</p>
            <FindingList findings={job.findings} />
            <p>
              <span className="dim">Estimate: </span>
              <EstimateWords estimate={job.estimate} rule={job.rule} />
            </p>
            <Statement sql={job.action} />
          </div>
        </Panel>
        <Panel title="Details" fold="closed">
          <Times job={job} />
        </Panel>
      </div>
    </>
  );
}

function LiveTimeline({ jobId, isOver }: { jobId: string; isOver: boolean }) {
  const queries = useQueryClient();
  const onJob = useCallback(
    (job: Job) => queries.setQueryData(jobQuery(jobId).queryKey, job),
    [queries, jobId],
  );
  const { events, stream } = useJobEvents(jobId, onJob);
  return <Timeline events={events} stream={stream} fold={isOver ? "closed" : "open"} />;
}

/** One job: its statement, reason, progress and result. */
export function JobPage() {
  const { id } = route.useParams();
  const job = useQuery(jobQuery(id));
  useDocumentTitle(`${job.data ? RULE_WORDS[job.data.rule] : "Job"} – iceberg-maintainer`);
  return (
    <div className="stack">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link to="/jobs">Jobs</Link> / <span className="mono">{id}</span>
      </nav>
      <Loaded query={job} label="the job" heading="Job" height={PAGE_HEIGHT}>
        {(data) => (
          <>
            <JobDetail job={data} />
            <LiveTimeline key={id} jobId={id} isOver={isFinal(data.state)} />
            <LogPanel
              key={`${id} log`}
              jobId={id}
              fold={data.state === "succeeded" ? "closed" : "open"}
            />
          </>
        )}
      </Loaded>
    </div>
  );
}
