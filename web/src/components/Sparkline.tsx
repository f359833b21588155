import { useQuery } from "@tanstack/react-query";
import { trendsQuery } from "../api/trends";
import { HISTORY_METRICS, type HistoryMetric } from "../lib/metrics";
import { layOutTrend } from "../lib/trend";

const WIDTH = 88;
const HEIGHT = 22;

interface SparklineProps {
  table: string;
  /** The tables that are asked for in the same request, in a stable order. */
  among: string[];
  metric: HistoryMetric;
}

/** A table's metric in the last 7 days as a small line; nothing before two samples. */
export function Sparkline({ table, among, metric }: SparklineProps) {
  const samples = useQuery(trendsQuery(among, metric)).data?.get(table) ?? [];
  const trend = layOutTrend(samples, WIDTH, HEIGHT);
  if (!trend) return null;
  const { label, format } = HISTORY_METRICS[metric];
  const words = `${label} in 7 days: ${format(trend.first)} to ${format(trend.last)}`;
  const [x, y] = trend.end;
  return (
    <svg
      className="sparkline"
      role="img"
      aria-label={words}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    >
      <title>{words}</title>
      <path d={trend.path} />
      <circle cx={x} cy={y} r={2} />
    </svg>
  );
}
