import { Link } from "@tanstack/react-router";
import type { Outlook } from "../../api/types";
import { JobProgress, StageList } from "../../components/JobProgress";
import { Panel } from "../../components/Panel";

interface RunningJobProps {
  outlook: Outlook;
  job: NonNullable<Outlook["job"]>;
}

/** The job on the table: the daemon's sentence, its stage and the time left. */
export function RunningJob({ outlook, job }: RunningJobProps) {
  return (
    <Panel
      title="Running now"
      aside={
        <Link to="/jobs/$id" params={{ id: job.job_id }}>
          Open the job
        </Link>
      }
    >
      <div className="stack-tight">
        <p>{outlook.sentence}</p>
        <JobProgress progress={job.progress}>
          <StageList stage={job.progress.stage} />
        </JobProgress>
      </div>
    </Panel>
  );
}
