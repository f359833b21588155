import { Button, Checkbox, Modal } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePlan, useRunNow } from "../api/queries";
import type { Plan, RuleName, RunAccepted, SkipCode, TablePath } from "../api/types";
import { EstimateWords } from "./EstimateWords";
import { ErrorNotice, Notice } from "./notices";
import { Statement } from "./Statement";
import { RULE_WORDS, SKIP_WORDS } from "../lib/words";

/** Reasons that a person may overrule; for the others there is no work or no safe way. */
const OVERRULED: readonly SkipCode[] = [
  "observe_only",
  "outside_window",
  "cooling_down",
  "over_budget",
  "not_quiet",
  "other_maintainer",
];

interface RunDialogProps {
  path: TablePath;
  /** The one rule that is selected at first; without it, all that the plan would run. */
  wanted?: RuleName;
  isOpen: boolean;
  onClose: () => void;
}

export function RunDialog({ path, wanted, isOpen, onClose }: RunDialogProps) {
  const plan = usePlan(path).data;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      size="xl"
      title={`Run on ${path.table} now`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <RunForm path={path} plan={plan} wanted={wanted} onClose={onClose} />
    </Modal>
  );
}

function RunForm({
  path,
  plan,
  wanted,
  onClose,
}: {
  path: TablePath;
  plan: Plan | undefined;
  wanted: RuleName | undefined;
  onClose: () => void;
}) {
  const run = useRunNow(path);
  const [changed, setChanged] = useState<RuleName[]>([]);
  const planned = plan?.planned ?? [];
  const overruled = (plan?.skipped ?? []).filter((skipped) => OVERRULED.includes(skipped.code));
  const offered = [...planned, ...overruled].map((each) => each.rule);
  const isAtFirst = (rule: RuleName) =>
    wanted ? rule === wanted : planned.some((each) => each.rule === rule);
  const rules = offered.filter((rule) => isAtFirst(rule) !== changed.includes(rule));
  const checkbox = (rule: RuleName) => ({
    label: RULE_WORDS[rule],
    checked: rules.includes(rule),
    onChange: () => setChanged(toggle(changed, rule)),
  });
  if (run.data) return <Accepted accepted={run.data} onClose={onClose} />;
  return (
    <div className="stack">
      {plan && wanted && !offered.includes(wanted) && (
        <Notice tone="watch" title={`${RULE_WORDS[wanted]} cannot run now`}>
          <p>{whyNot(plan, wanted)}</p>
        </Notice>
      )}
      {offered.length === 0 && !wanted && (
        <p>The latest plan has no work. “Plan again” on the table’s page makes a new plan.</p>
      )}
      {planned.map((each) => (
        <div key={each.rule} className="stack-tight">
          <Checkbox {...checkbox(each.rule)} />
          <EstimateWords estimate={each.estimate} rule={each.rule} />
          <Statement sql={each.action} />
        </div>
      ))}
      {overruled.map((each) => (
        <div key={each.rule} className="stack-tight">
          <Checkbox
            {...checkbox(each.rule)}
            description={`${SKIP_WORDS[each.code]}. Select it to run it anyway.`}
          />
          {each.estimate && <EstimateWords estimate={each.estimate} rule={each.rule} />}
          {each.action && <Statement sql={each.action} />}
        </div>
      ))}
      <p className="dim">
        A new plan is made before a job starts. Maintenance changes no rows; a proof checks this
        after each job.
      </p>
      {run.error && <ErrorNotice error={run.error} />}
      <div className="actions">
        <Button
          variant="filled"
          disabled={rules.length === 0}
          loading={run.isPending}
          onClick={() => run.mutate(rules)}
        >
          Run now
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </div>
  );
}

/** What the plan says of a rule that it does not offer. */
function whyNot(plan: Plan, rule: RuleName): string {
  const skipped = plan.skipped.find((each) => each.rule === rule);
  return skipped
    ? `${SKIP_WORDS[skipped.code]}. ${skipped.reason}`
    : "The latest plan does not mention it: the table has changed since.";
}

function toggle(rules: RuleName[], rule: RuleName): RuleName[] {
  return rules.includes(rule) ? rules.filter((each) => each !== rule) : [...rules, rule];
}

function Accepted({ accepted, onClose }: { accepted: RunAccepted; onClose: () => void }) {
  const { jobs, plan } = accepted;
  return (
    <div className="stack">
      {jobs.length > 0 ? (
        <Notice tone="healthy" title="Accepted">
          <ul className="findings">
            {jobs.map((job) => (
              <li key={job.job_id}>
                <Link to="/jobs/$id" params={{ id: job.job_id }}>
                  {RULE_WORDS[job.rule]}
                </Link>
              </li>
            ))}
          </ul>
        </Notice>
      ) : (
        <Notice tone="watch" title="Nothing was started">
          <ul className="findings">
            {plan.skipped.map((skipped) => (
              <li key={skipped.rule}>
                {RULE_WORDS[skipped.rule]}: {SKIP_WORDS[skipped.code]}. {skipped.reason}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <div>
        <Button onClick={onClose}>Close</Button>
      </div>
    </div>
  );
}
