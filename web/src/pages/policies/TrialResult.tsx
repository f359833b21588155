import { Button } from "@mantine/core";
import type { FleetPreview } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Empty, Notice } from "../../components/notices";
import { TableLink } from "../../components/TableLink";
import { formatCount, formatSignificant, pluralize, UNKNOWN } from "../../lib/format";
import { RULE_WORDS, SKIP_WORDS } from "../../lib/words";

const PLANNED = "planned";

function sayVerdict(verdict: string | null): string {
  if (verdict === null) return "No such rule";
  if (verdict === PLANNED) return "Would run";
  return verdict in SKIP_WORDS ? SKIP_WORDS[verdict as keyof typeof SKIP_WORDS] : verdict;
}

interface TrialResultProps {
  result: FleetPreview;
  isGoingOn: boolean;
  onGoOn: (after: FleetPreview) => void;
}

/** Which verdicts a draft changes, and what the new work would cost. */
export function TrialResult({ result, isGoingOn, onGoOn }: TrialResultProps) {
  const { items, looked_at, unmeasured, gb_hours, next_cursor, total } = result;
  const isPart = next_cursor !== null;
  return (
    <div className="stack-tight">
      <Notice
        tone={items.length > 0 ? "watch" : "healthy"}
        title={`${pluralize(items.length, "table")} of ${formatCount(looked_at)} would change ${items.length === 1 ? "its" : "their"} verdict`}
      >
        <p>
          New work costs {formatSignificant(gb_hours)} GB-hours by today’s predictions.
          {unmeasured > 0 &&
            ` ${pluralize(unmeasured, "table")} without a measurement cannot be predicted.`}
          {isPart && ` ${formatCount(total)} tables are concerned; the others were not tried yet.`}
        </p>
      </Notice>
      {items.length === 0 && total === 0 && (
        <Empty title="No known table is concerned">Check the names under `tables`.</Empty>
      )}
      {items.length > 0 && (
        <Grid
          label="Changed verdicts"
          headings={["Table", "Action", "Now", "With the draft", { figures: "GB-hours" }]}
        >
          {items.flatMap(({ table, changes }) =>
            changes.map((change) => (
              <tr key={`${table} ${change.rule}`}>
                <th scope="row">
                  <TableLink name={table} />
                </th>
                <td>{RULE_WORDS[change.rule]}</td>
                <td title={change.why_before}>{sayVerdict(change.before)}</td>
                <td>
                  {sayVerdict(change.after)}
                  <div className="dim">{change.why_after}</div>
                </td>
                <td className="num">
                  {change.gb_hours === null ? UNKNOWN : formatSignificant(change.gb_hours)}
                </td>
              </tr>
            )),
          )}
        </Grid>
      )}
      {isPart && (
        <div>
          <Button loading={isGoingOn} onClick={() => onGoOn(result)}>
            Try out the next tables
          </Button>
        </div>
      )}
    </div>
  );
}
