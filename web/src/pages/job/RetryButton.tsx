import { useState } from "react";
import type { Job, RuleName } from "../../api/types";
import { RoleButton } from "../../components/RoleButton";
import { RunDialog } from "../../components/RunDialog";
import { locateTable } from "../../lib/identifier";

/** The rule that may run again; null while the job runs, after a success, and for a rollback. */
export function retriedRule(job: Job): RuleName | null {
  const isOver = job.state === "failed" || job.state === "cancelled";
  return isOver && job.rule !== "roll_back" ? job.rule : null;
}

/** Opens the dialog that runs rules, with the job's rule selected. */
export function RetryButton({ job, rule }: { job: Job; rule: RuleName }) {
  const [isOpen, setOpen] = useState(false);
  const path = locateTable(job.table);
  if (!path) return null;
  return (
    <>
      <RoleButton role="operator" table={job.table} onClick={() => setOpen(true)}>
        Run again…
      </RoleButton>
      {isOpen && <RunDialog path={path} wanted={rule} isOpen onClose={() => setOpen(false)} />}
    </>
  );
}
