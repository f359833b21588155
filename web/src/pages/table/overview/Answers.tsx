import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobsQuery } from "../../../api/queries";
import type { Job, Outlook, TableDetail, TableStatus } from "../../../api/types";
import { StateBadge, TableBadges } from "../../../components/badges";
import { sayOutcome } from "../../../components/JobList";
import { Panel } from "../../../components/Panel";
import { HowLong, TimeAgo } from "../../../components/TimeAgo";
import { endSentence } from "../../../lib/eventWords";
import { capitalize } from "../../../lib/format";
import { useNow } from "../../../lib/now";
import { sayPair, sumDay } from "../../../lib/pair";
import { BAND_WORDS, isFinal, RULE_WORDS } from "../../../lib/words";

/** The state says it all, or what is found; what is done about it is the next question. */
function sayHealth({ reason }: TableDetail, { state, sentence }: TableStatus): string {
  const isInHand = state === "due" || state === "waiting" || state === "being_maintained";
  const found = state === "observed" || state === "paused" || isInHand ? reason : "";
  return found ? `${capitalize(found).replace(/\.?$/, "")}.` : sentence;
}

function Health({ table }: { table: TableDetail }) {
  if (!table.status) return <>Not measured yet.</>;
  return (
    <>
      <TableBadges table={table} /> {sayHealth(table, table.status)}{" "}
      {table.band_since && (
        <span className="dim">
          For <HowLong since={table.band_since} />
          {table.previous_band && (
            <>, {BAND_WORDS[table.previous_band].toLowerCase()} before that</>
          )}
          .
        </span>
      )}
    </>
  );
}

/** The daemon's sentence, with the time of the next check. */
function Next({ outlook }: { outlook: Outlook }) {
  const { kind, sentence, next_at } = outlook;
  return (
    <>
      {sentence}
      {(kind === "waiting" || kind === "idle") && (
        <span className="dim">
          {" "}
          {next_at ? (
            <>
              Next check <TimeAgo time={next_at} />.
            </>
          ) : (
            "Rechecked when the table or its policy changes."
          )}
        </span>
      )}
    </>
  );
}

function LastRun({ job }: { job: Job }) {
  return (
    <>
      <JobLink job={job} />, <TimeAgo time={job.started_at ?? job.created_at} />
      {job.requested_by !== "policy" && `, requested by a ${job.requested_by}`}:{" "}
      {endSentence(job.reason)}
    </>
  );
}

function JobLink({ job }: { job: Job }) {
  return (
    <Link to="/jobs/$id" params={{ id: job.job_id }}>
      {RULE_WORDS[job.rule]}
    </Link>
  );
}

function Outcome({ job }: { job: Job }) {
  return (
    <>
      <StateBadge state={job.state} /> {capitalize(sayOutcome(job))}
    </>
  );
}

/** What the last day achieved; else the outcome of the last job that has ended. */
function DidItHelp({ jobs }: { jobs: Job[] }) {
  const now = useNow();
  const [last] = jobs;
  if (!last) return <>Nothing has run yet.</>;
  const day = sumDay(jobs, now);
  const ended = jobs.find((job) => isFinal(job.state));
  if (day.length > 0 && ended?.state === "succeeded")
    return (
      <>
        In the last day: <strong>{day.map(sayPair).join(", ")}</strong>.
      </>
    );
  if (isFinal(last.state)) return <Outcome job={last} />;
  const before = jobs.find((job) => isFinal(job.state));
  return (
    <>
      Still running.
      {before && (
        <>
          {" "}
          Before that, <JobLink job={before} />: <Outcome job={before} />
        </>
      )}
    </>
  );
}

/** The first questions about a table, each answered in a sentence. */
export function Answers({ table }: { table: TableDetail }) {
  const jobs = useInfiniteQuery(jobsQuery({ table: table.table, state: undefined })).data?.pages[0]
    ?.items;
  const last = jobs?.[0];
  return (
    <Panel title="At a glance">
      <dl className="description answers">
        <dt>Is it healthy?</dt>
        <dd>
          <Health table={table} />
        </dd>
        {table.partition_advice && (
          <>
            <dt>What would help?</dt>
            <dd>{table.partition_advice.sentence}</dd>
          </>
        )}
        {!table.outlook.job && (
          <>
            <dt>What happens next?</dt>
            <dd>
              <Next outlook={table.outlook} />
            </dd>
          </>
        )}
        {table.outlook.why && (
          <>
            <dt>Why does nothing start?</dt>
            <dd>{table.outlook.why}</dd>
          </>
        )}
        {jobs && (
          <>
            <dt>Why did it run last?</dt>
            <dd>{last ? <LastRun job={last} /> : "Nothing has run yet."}</dd>
            <dt>Did it help?</dt>
            <dd>
              <DidItHelp jobs={jobs} />
            </dd>
          </>
        )}
      </dl>
    </Panel>
  );
}
