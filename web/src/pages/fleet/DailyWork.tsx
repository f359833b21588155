import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { dailyWorkQuery, DAYS_SHOWN } from "../../api/fleet";
import type { DailyWork as Work, Day } from "../../api/types";
import { Chart } from "../../components/Chart";
import { Grid } from "../../components/Grid";
import { MetricSelect } from "../../components/MetricSelect";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { DAILY_METRICS, drawDays, fillDays, type DailyMetric } from "../../lib/dailyCharts";
import { formatBytes, formatCount, formatSignificant } from "../../lib/format";
import type { Palette } from "../../lib/palette";

const CHART_HEIGHT = 272;
const LABELS = Object.values(DAILY_METRICS).map(({ label }) => label);

function Bars({ days, metric }: { days: Day[]; metric: DailyMetric }) {
  const option = useCallback((palette: Palette) => drawDays(days, metric, palette), [days, metric]);
  const { label, format } = DAILY_METRICS[metric];
  const sum = days.reduce((total, day) => total + day[metric], 0);
  return (
    <>
      <Chart label={`${label} by day: ${format(sum)} in ${days.length} days`} option={option} />
      <details>
        <summary>Show as a table</summary>
        <Grid
          label="Cost and savings by day"
          headings={["Day (UTC)", ...LABELS.map((label) => ({ figures: label }))]}
        >
          {days
            .filter((day) => day.gb_hours > 0 || day.bytes_rewritten > 0 || day.files_removed > 0)
            .reverse()
            .map((day) => (
              <tr key={day.day}>
                <th scope="row">{day.day}</th>
                <td className="num">{formatCount(day.files_removed)}</td>
                <td className="num">{formatCount(day.requests_saved)}</td>
                <td className="num">{formatBytes(day.bytes_rewritten)}</td>
                <td className="num">{formatSignificant(day.gb_hours)}</td>
              </tr>
            ))}
        </Grid>
      </details>
    </>
  );
}

export function DailyBars({ work }: { work: Work }) {
  const [metric, setMetric] = useState<DailyMetric>("files_removed");
  const filled = useMemo(() => fillDays(work.days, DAYS_SHOWN, new Date()), [work]);
  return (
    <div className="stack">
      {work.days.length === 0 ? (
        <Empty title={`No job in the last ${DAYS_SHOWN} days`}>
          What each day’s jobs cost and save appears here.
        </Empty>
      ) : (
        <>
          <div className="row">
            <MetricSelect
              label="Daily figure"
              metrics={DAILY_METRICS}
              metric={metric}
              onChange={setMetric}
            />
          </div>
          <Bars days={filled} metric={metric} />
        </>
      )}
    </div>
  );
}

/** What maintenance costs and saves by day. */
export function DailyWork({
  catalog,
  namespace,
}: {
  catalog: string | undefined;
  namespace: string | undefined;
}) {
  const work = useQuery(dailyWorkQuery(catalog, namespace));
  return (
    <Panel title="Cost and savings by day">
      <Loaded query={work} label="the days" height={CHART_HEIGHT}>
        {(data) => <DailyBars work={data} />}
      </Loaded>
    </Panel>
  );
}
