import { Button } from "@mantine/core";
import { ApiError } from "../../../api/client";
import { usePlan, usePlanAgain } from "../../../api/queries";
import type { Plan, Planned, Skipped, TablePath } from "../../../api/types";
import { EstimateWords } from "../../../components/EstimateWords";
import { Empty, ErrorNotice, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { RescueLink } from "../../../components/RescueLink";
import { Statement } from "../../../components/Statement";
import { TimeAgo } from "../../../components/TimeAgo";
import { Weights } from "../../../components/Weights";
import { pluralize } from "../../../lib/format";
import { MODE_WORDS, RULE_WORDS } from "../../../lib/words";

function PlannedVerdict({ planned }: { planned: Planned }) {
  return (
    <section className="verdict">
      <div className="row">
        <span className="badge badge-info">Would run</span>
        <h3>{RULE_WORDS[planned.rule]}</h3>
        <code className="dim">{planned.rule}</code>
      </div>
      <p>{planned.sentence}</p>
      {planned.admission && (
        <p>
          {planned.admission.sentence}{" "}
          <span className="dim">
            Planned <TimeAgo time={planned.admission.waiting_since} />.
          </span>
        </p>
      )}
      <p>
        <span className="dim">Estimate: </span>
        <EstimateWords estimate={planned.estimate} rule={planned.rule} />
      </p>
      <Weights cost={planned.cost} score={planned.admission?.score ?? planned.score} />
      <Statement sql={planned.action} />
    </section>
  );
}

function SkippedVerdict({ skipped }: { skipped: Skipped }) {
  return (
    <section className="verdict">
      <div className="row">
        <span className="badge">Skipped</span>
        <h3>{RULE_WORDS[skipped.rule]}</h3>
        <code className="dim">{skipped.rule}</code>
      </div>
      <p>{skipped.sentence}</p>
      {skipped.estimate && (
        <p>
          <span className="dim">Estimate: </span>
          <EstimateWords estimate={skipped.estimate} rule={skipped.rule} />
        </p>
      )}
      <Weights cost={skipped.cost} score={skipped.score} />
      {skipped.action && <Statement sql={skipped.action} />}
      <p className="dim">
        <span title={skipped.code}>
          Rechecked{" "}
          {skipped.next_at ? <TimeAgo time={skipped.next_at} /> : "when the table changes"}
        </span>
      </p>
    </section>
  );
}

/** The verdict of each rule of the policy. */
export function PlanVerdicts({ plan }: { plan: Plan }) {
  return (
    <div>
      {plan.planned.length === 0 && plan.skipped.length === 0 && (
        <Empty title="The policy has no rules for this table" />
      )}
      {plan.pool !== "default" && (
        <p className="dim">
          Its jobs run in the pool <code>{plan.pool}</code>.
        </p>
      )}
      {plan.planned.map((planned) => (
        <PlannedVerdict key={planned.rule} planned={planned} />
      ))}
      {plan.skipped.map((skipped) => (
        <SkippedVerdict key={skipped.rule} skipped={skipped} />
      ))}
    </div>
  );
}

/** The latest plan; a table without a plan is no error. */
export function PlanPanel({ path }: { path: TablePath }) {
  const plan = usePlan(path);
  const again = usePlanAgain(path);
  const isMissing = plan.error instanceof ApiError && plan.error.status === 404 && !plan.data;
  return (
    <Panel
      title="Plan"
      aside={
        <div className="row">
          {plan.data && (
            <span className="dim">
              {MODE_WORDS[plan.data.mode]} · {pluralize(plan.data.planned.length, "action")} ·{" "}
              <TimeAgo time={plan.data.made_at} />
            </span>
          )}
          {plan.data && <RescueLink table={plan.data.table} />}
          <Button onClick={() => again.mutate()} loading={again.isPending}>
            Plan again
          </Button>
        </div>
      }
    >
      {again.error && <ErrorNotice error={again.error} />}
      {isMissing ? (
        <Empty title="No plan has been made yet">
          “Plan again” measures the table and makes a plan; it starts nothing.
        </Empty>
      ) : (
        <Loaded query={plan} label="the plan">
          {(data) => <PlanVerdicts plan={data} />}
        </Loaded>
      )}
    </Panel>
  );
}
