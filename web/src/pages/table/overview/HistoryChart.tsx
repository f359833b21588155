import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { historyQuery, jobsQuery } from "../../../api/queries";
import type { History, TablePath } from "../../../api/types";
import { Chart } from "../../../components/Chart";
import { Grid } from "../../../components/Grid";
import { MetricSelect } from "../../../components/MetricSelect";
import { Empty, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { RangeSwitch } from "../../../components/RangeSwitch";
import { pluralize } from "../../../lib/format";
import { drawHistory, findFinished, sayResult, type FinishedJob } from "../../../lib/historyChart";
import {
  HISTORY_METRICS,
  isHistoryMetric,
  type HistoryMetric,
  type HistoryRange,
} from "../../../lib/metrics";
import type { Palette } from "../../../lib/palette";
import { formatExact } from "../../../lib/time";
import { RULE_WORDS } from "../../../lib/words";

const CHART_HEIGHT = 272;

function describe(history: History, metric: HistoryMetric, jobs: number): string {
  const { format, label } = HISTORY_METRICS[metric];
  const [first, last] = [history.samples[0], history.samples.at(-1)];
  if (!first || !last) return label;
  const ends = [first, last].map(({ at, value }) => `${format(value)} at ${formatExact(at)}`);
  return `${label}: ${ends.join(", ")}; ${pluralize(history.samples.length, "sample")}, ${pluralize(jobs, "finished job")}`;
}

/** The jobs that are marked, with their links, for those who cannot see the chart or want one. */
function FinishedJobs({ finished, hasMore }: { finished: FinishedJob[]; hasMore: boolean }) {
  return (
    <details>
      <summary>
        {pluralize(finished.length, "finished job")} in this time range
        {hasMore && "; older ones are not marked"}
      </summary>
      <Grid label="Finished jobs in this time range" headings={["Ended", "Action", "Result"]}>
        {finished.map(({ job, at }) => (
          <tr key={job.job_id}>
            <td>{formatExact(at)}</td>
            <th scope="row">
              <Link to="/jobs/$id" params={{ id: job.job_id }}>
                {RULE_WORDS[job.rule]}
              </Link>
            </th>
            <td>{sayResult(job)}</td>
          </tr>
        ))}
      </Grid>
    </details>
  );
}

interface TrendProps {
  history: History;
  metric: HistoryMetric;
  finished: FinishedJob[];
  /** The time range has older jobs that were not read. */
  hasMore: boolean;
}

/** The chart, and the jobs of its markers as a table. */
export function Trend({ history, metric, finished, hasMore }: TrendProps) {
  const option = useCallback(
    (palette: Palette) => drawHistory(history, metric, finished, palette),
    [history, metric, finished],
  );
  if (history.samples.length === 0)
    return <Empty title="No samples in this time range">Choose a longer one.</Empty>;
  return (
    <>
      <Chart label={describe(history, metric, finished.length)} option={option} />
      {finished.length > 0 && <FinishedJobs finished={finished} hasMore={hasMore} />}
    </>
  );
}

interface HistoryChartProps {
  /** The full name. */
  table: string;
  path: TablePath;
  metric: HistoryMetric;
  range: HistoryRange;
  onChange: (change: { metric?: HistoryMetric; range?: HistoryRange }) => void;
}

/** One metric of the table over time, with the jobs that ended in it. */
export function HistoryChart({ table, path, metric, range, onChange }: HistoryChartProps) {
  const history = useQuery(historyQuery(path, metric, range));
  const jobs = useInfiniteQuery(jobsQuery({ table, range }));
  const finished = useMemo(
    () => findFinished(jobs.data?.pages.flatMap(({ items }) => items) ?? []),
    [jobs.data],
  );
  return (
    <Panel
      title="History"
      aside={
        <div className="row">
          <MetricSelect
            metrics={HISTORY_METRICS}
            metric={metric}
            onChange={(chosen) => onChange({ metric: chosen })}
          />
          <RangeSwitch range={range} onChange={(chosen) => onChange({ range: chosen })} />
        </div>
      }
    >
      <Loaded query={history} label="the history" height={CHART_HEIGHT}>
        {/* While another metric loads, the previous one stays, under its own name. */}
        {(data) => (
          <Trend
            history={data}
            metric={isHistoryMetric(data.metric) ? data.metric : metric}
            finished={finished}
            hasMore={jobs.hasNextPage}
          />
        )}
      </Loaded>
    </Panel>
  );
}
