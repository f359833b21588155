import { useQuery } from "@tanstack/react-query";
import type { EChartsCoreOption } from "echarts/core";
import { useCallback } from "react";
import { historyQuery } from "../../../api/queries";
import type { History, TablePath } from "../../../api/types";
import { Chart } from "../../../components/Chart";
import { MetricSelect } from "../../../components/MetricSelect";
import { Empty, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { RangeSwitch } from "../../../components/RangeSwitch";
import { drawOverTime, drawValues, scaleBytes } from "../../../lib/axes";
import { pluralize } from "../../../lib/format";
import {
  HISTORY_METRICS,
  isHistoryMetric,
  type HistoryMetric,
  type HistoryRange,
} from "../../../lib/metrics";
import type { Palette } from "../../../lib/palette";
import { formatExact } from "../../../lib/time";

const CHART_HEIGHT = 272;

function drawHistory(history: History, metric: HistoryMetric, palette: Palette): EChartsCoreOption {
  const { format, label } = HISTORY_METRICS[metric];
  const isBytes = metric.endsWith("_bytes");
  return {
    ...drawOverTime(palette, format),
    yAxis: {
      ...drawValues(palette, format),
      ...(isBytes &&
        scaleBytes(Math.max(0, ...history.samples.map((sample) => sample.value ?? 0)))),
    },
    series: [
      {
        type: "line",
        name: label,
        // A value is valid until the next sample.
        step: "end",
        symbolSize: 5,
        showSymbol: history.samples.length < 60,
        lineStyle: { color: palette.accent, width: 2 },
        itemStyle: { color: palette.accent },
        areaStyle: { color: palette.accent, opacity: 0.08 },
        data: history.samples.map((sample) => [sample.at, sample.value]),
      },
    ],
  };
}

function describe(history: History, metric: HistoryMetric): string {
  const { format, label } = HISTORY_METRICS[metric];
  const [first, last] = [history.samples[0], history.samples.at(-1)];
  if (!first || !last) return label;
  const ends = [first, last].map(({ at, value }) => `${format(value)} at ${formatExact(at)}`);
  return `${label}: ${ends.join(", ")}; ${pluralize(history.samples.length, "sample")}`;
}

function Line({ history, metric }: { history: History; metric: HistoryMetric }) {
  const option = useCallback(
    (palette: Palette) => drawHistory(history, metric, palette),
    [history, metric],
  );
  if (history.samples.length === 0)
    return <Empty title="No samples in this time range">Choose a longer one.</Empty>;
  return <Chart label={describe(history, metric)} option={option} />;
}

interface HistoryChartProps {
  path: TablePath;
  metric: HistoryMetric;
  range: HistoryRange;
  onChange: (change: { metric?: HistoryMetric; range?: HistoryRange }) => void;
}

/** One metric of the table over time. */
export function HistoryChart({ path, metric, range, onChange }: HistoryChartProps) {
  const history = useQuery(historyQuery(path, metric, range));
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
          <Line history={data} metric={isHistoryMetric(data.metric) ? data.metric : metric} />
        )}
      </Loaded>
    </Panel>
  );
}
