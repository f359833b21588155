import { Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { dailyWorkQuery } from "../../api/fleet";
import type { Budget } from "../../api/types";
import { Panel } from "../../components/Panel";
import { capitalize, formatBytes, formatSignificant } from "../../lib/format";

const PERCENT = 100;
const UNITS = { bytes_per_day: formatBytes, gb_hours_per_day: formatSignificant };

function BudgetBar({ budget }: { budget: Budget }) {
  if (budget.resource === "jobs") return null;
  const format = UNITS[budget.resource];
  const unit = budget.resource === "gb_hours_per_day" ? " GB-hours" : "";
  const share = budget.limit > 0 ? budget.spent / budget.limit : 1;
  const words = `${format(budget.spent)} of ${format(budget.limit)}${unit}`;
  return (
    <li className="stack-tight">
      <div className="row row-apart">
        <span>{capitalize(budget.name)}</span>
        <span className="dim">{words}</span>
      </div>
      <Progress
        value={Math.min(PERCENT, share * PERCENT)}
        color={share >= 1 ? "var(--critical)" : "var(--accent)"}
        aria-label={`${budget.name}: ${words} spent today`}
      />
    </li>
  );
}

export function BudgetList({ budgets }: { budgets: Budget[] }) {
  return (
    <ul className="outlook">
      {budgets.map((budget) => (
        <BudgetBar key={budget.name + budget.resource} budget={budget} />
      ))}
    </ul>
  );
}

/** What is spent today of the budgets; nothing where there is none. */
export function Budgets() {
  const budgets = useQuery(dailyWorkQuery(undefined, undefined)).data?.budgets ?? [];
  if (budgets.length === 0) return null;
  return (
    <Panel title="Budgets today">
      <BudgetList budgets={budgets} />
    </Panel>
  );
}
