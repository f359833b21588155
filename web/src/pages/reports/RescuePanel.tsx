import { useQuery } from "@tanstack/react-query";
import { rescueQuery } from "../../api/reports";
import type { RescuePlan } from "../../api/types";
import { BandBadge } from "../../components/badges";
import { Grid } from "../../components/Grid";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { TableLink } from "../../components/TableLink";
import { TablePicker } from "../../components/TablePicker";
import { TimeAgo } from "../../components/TimeAgo";
import { formatBytes, formatCount, formatSignificant } from "../../lib/format";
import { locateTable } from "../../lib/identifier";
import { RULE_WORDS } from "../../lib/words";

const PLAN_HEIGHT = 200;

/** The jobs of a plan, and the predicted table after each. */
export function RescueSteps({ plan }: { plan: RescuePlan }) {
  return (
    <div className="stack">
      <p className="row">
        <TableLink name={plan.table} /> <BandBadge band={plan.band} />
      </p>
      <p>{plan.sentence}</p>
      {plan.steps.length > 0 && (
        <Grid
          label={`Rescue plan of ${plan.table}`}
          headings={[
            "Job",
            "Ends",
            { figures: "GB-hours" },
            "Band after it",
            { figures: "Data files" },
            { figures: "Avg file size" },
            { figures: "Delete files" },
            { figures: "Manifests" },
            { figures: "Snapshots" },
            "Why",
          ]}
        >
          {plan.steps.map((step) => (
            <tr key={step.starts_at}>
              <th scope="row">{RULE_WORDS[step.rule]}</th>
              <td>
                <TimeAgo time={step.ends_at} />
              </td>
              <td className="num">{formatSignificant(step.gb_hours)}</td>
              <td>
                <BandBadge band={step.band} />
              </td>
              <td className="num">{formatCount(step.data_files)}</td>
              <td className="num">{formatBytes(step.average_file_size_bytes)}</td>
              <td className="num">{formatCount(step.delete_files)}</td>
              <td className="num">{formatCount(step.manifests)}</td>
              <td className="num">{formatCount(step.snapshots)}</td>
              <td className="words">
                {step.waited_for && <>Later: {step.waited_for}. </>}
                {step.reason}
              </td>
            </tr>
          ))}
        </Grid>
      )}
    </div>
  );
}

interface RescuePanelProps {
  table: string;
  onChoose: (table: string) => void;
}

/** How one table becomes healthy; nothing is started. */
export function RescuePanel({ table, onChoose }: RescuePanelProps) {
  const path = table ? locateTable(table) : null;
  return (
    <div id="rescue">
      <Panel
        title="Rescue plan"
        aside={<span className="dim">how one table becomes healthy; nothing is started</span>}
      >
        <div className="stack">
          <TablePicker value={table} onChoose={onChoose} />
          {path ? (
            <Chosen path={path} />
          ) : (
            <Empty title={table ? `No table has the name ${table}` : "Choose a table"}>
              The plan has the jobs, the time and the GB-hours until the table is healthy.
            </Empty>
          )}
        </div>
      </Panel>
    </div>
  );
}

function Chosen({ path }: { path: NonNullable<ReturnType<typeof locateTable>> }) {
  const plan = useQuery(rescueQuery(path));
  return (
    <Loaded query={plan} label="the rescue plan" height={PLAN_HEIGHT}>
      {(data) => <RescueSteps plan={data} />}
    </Loaded>
  );
}
