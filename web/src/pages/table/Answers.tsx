import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobsQuery, usePlan } from "../../api/queries";
import type { Job, Plan, TableDetail, TablePath } from "../../api/types";
import { BandBadge, StateBadge } from "../../components/badges";
import { sayOutcome } from "../../components/JobList";
import { Panel } from "../../components/Panel";
import { HowLong, TimeAgo } from "../../components/TimeAgo";
import { capitalize } from "../../lib/format";
import { mainObstacle, nextStep } from "../../lib/verdicts";
import { BAND_WORDS, isFinal, RULE_WORDS } from "../../lib/words";

function Health({ table }: { table: TableDetail }) {
  if (!table.band) return <>It was not measured yet.</>;
  return (
    <>
      <BandBadge band={table.band} /> {capitalize(table.reason).replace(/\.?$/, ".")}{" "}
      {table.band_since && (
        <span className="dim">
          For <HowLong since={table.band_since} />
          {table.previous_band && <>, {BAND_WORDS[table.previous_band].toLowerCase()} before that</>}.
        </span>
      )}
    </>
  );
}

function Next({ plan }: { plan: Plan }) {
  const { kind, rules, at } = nextStep(plan);
  const names = rules.map(({ rule }) => RULE_WORDS[rule]).join(", ");
  switch (kind) {
    case "start":
      return <>{plan.planned.map((planned) => planned.admission?.sentence ?? `${RULE_WORDS[planned.rule]} is planned.`).join(" ")}</>;
    case "look":
      return (
        <>
          {names}: looked at again <TimeAgo time={at} />.
        </>
      );
    case "change":
      return <>Nothing, until the table or its policy changes.</>;
  }
}

function WhyNot({ plan }: { plan: Plan }) {
  return <>{mainObstacle(plan)?.sentence ?? "The policy has no rules for this table."}</>;
}

function LastRun({ job }: { job: Job }) {
  return (
    <>
      <JobLink job={job} />, <TimeAgo time={job.started_at ?? job.created_at} />
      {job.requested_by !== "policy" && `, asked for by a ${job.requested_by}`}: {job.reason}
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

/** What the last job did; while it is at work, what the one before did. */
function DidItHelp({ jobs }: { jobs: Job[] }) {
  const [last] = jobs;
  if (!last) return <>Nothing has run yet.</>;
  if (isFinal(last.state)) return <Outcome job={last} />;
  const before = jobs.find((job) => isFinal(job.state));
  return (
    <>
      It is still at work.
      {before && (
        <>
          {" "}
          Before that, <JobLink job={before} />: <Outcome job={before} />
        </>
      )}
    </>
  );
}

/** What everybody asks of a table first, each in a sentence. */
export function Answers({ table, path }: { table: TableDetail; path: TablePath }) {
  const plan = usePlan(path).data;
  const jobs = useInfiniteQuery(jobsQuery({ table: table.table, state: undefined })).data?.pages[0]?.items;
  const last = jobs?.[0];
  return (
    <Panel title="At a glance">
      <dl className="description answers">
        <dt>Is it healthy?</dt>
        <dd>
          <Health table={table} />
        </dd>
        {plan && (
          <>
            <dt>What happens next?</dt>
            <dd>
              <Next plan={plan} />
            </dd>
            {plan.planned.length === 0 && (
              <>
                <dt>Why is nothing started?</dt>
                <dd>
                  <WhyNot plan={plan} />
                </dd>
              </>
            )}
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
