import { Button, Modal } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRollBack } from "../../api/queries";
import type { Job } from "../../api/types";
import { ErrorNotice, Notice } from "../../components/notices";
import { RoleButton } from "../../components/RoleButton";

const REWRITES: readonly Job["rule"][] = [
  "rewrite_data_files",
  "rewrite_position_delete_files",
  "rewrite_manifests",
];

/** True for rewrites; whether a rollback is still possible, the daemon decides. */
export function mayBeUndone(job: Job): boolean {
  return (
    REWRITES.includes(job.rule) && (job.state === "succeeded" || job.failure_reason === "unproved")
  );
}

/** Asks, then sets the table back to the snapshot before the job. */
export function RollBackButton({ job }: { job: Job }) {
  const rollBack = useRollBack(job);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <RoleButton role="approver" table={job.table} onClick={() => setAsking(true)}>
        Roll back…
      </RoleButton>
      <Modal
        opened={isAsking}
        onClose={() => setAsking(false)}
        title="Roll this job back?"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {rollBack.data ? (
          <Notice tone="healthy" title="Accepted">
            <Link to="/jobs/$id" params={{ id: rollBack.data.job_id }}>
              Open the rollback job
            </Link>
          </Notice>
        ) : (
          <div className="stack">
            <p>
              The table goes back to the snapshot before this job, and is paused so that it is not
              rewritten again at once. It is refused where somebody has committed since: no commit
              of a writer is lost.
            </p>
            {rollBack.error && <ErrorNotice error={rollBack.error} />}
            <div className="actions">
              <Button
                variant="filled"
                loading={rollBack.isPending}
                onClick={() => rollBack.mutate()}
              >
                Roll the job back
              </Button>
              <Button onClick={() => setAsking(false)}>Cancel</Button>
            </div>
          </div>
        )}
      </Modal>
    </>
  );
}
