import type { EChartsCoreOption } from "echarts/core";
import type { FleetHistory, FleetSample } from "../api/types";
import { drawOverTime, drawValues, scaleBytes } from "./axes";
import { formatCount } from "./format";
import { FLEET_METRICS, type FleetMetric } from "./metrics";
import { colourOf, type Palette } from "./palette";
import { BAND_WORDS, BANDS } from "./words";

/** A scale of average file sizes has at least these sizes: 1 MiB to 64 MiB. */
const LEAST_SCALE = 2 ** 20;
const MOST_SCALE = 2 ** 26;

type SingleMetric = Exclude<FleetMetric, "bands">;

/** A value is valid until the next sample, and the last one until now. */
function stepsOf(samples: FleetSample[], read: (sample: FleetSample) => number | null, now: Date) {
  const points = samples.map((sample) => [sample.at, read(sample)]);
  const last = points.at(-1);
  return last ? [...points, [now.toISOString(), last[1]]] : [];
}

function drawBands(history: FleetHistory, palette: Palette, now: Date): EChartsCoreOption {
  return {
    ...drawOverTime(palette, formatCount),
    yAxis: { ...drawValues(palette, formatCount), minInterval: 1 },
    series: [...BANDS].reverse().map((band) => ({
      type: "line",
      name: BAND_WORDS[band],
      stack: "bands",
      step: "end",
      showSymbol: false,
      lineStyle: { width: 0 },
      itemStyle: { color: colourOf(band, palette) },
      areaStyle: { color: colourOf(band, palette), opacity: 0.85 },
      data: stepsOf(history.samples, (sample) => sample.bands[band] ?? 0, now),
    })),
  };
}

function drawAverage(history: FleetHistory, palette: Palette, now: Date): EChartsCoreOption {
  const { format, label } = FLEET_METRICS.average_file_size_bytes;
  const values = history.samples.flatMap(({ average_file_size_bytes: value }) => value ?? []);
  const lowest = 2 ** Math.floor(Math.log2(Math.max(1, Math.min(LEAST_SCALE, ...values))));
  const highest = 2 ** Math.ceil(Math.log2(Math.max(MOST_SCALE, ...values)));
  return {
    ...drawOverTime(palette, format),
    // Sizes differ by orders of magnitude, and the small ones matter.
    yAxis: { ...drawValues(palette, format), type: "log", logBase: 2, min: lowest, max: highest },
    series: [
      {
        ...drawLine(label, palette),
        data: stepsOf(history.samples, (sample) => sample.average_file_size_bytes, now),
      },
    ],
  };
}

function drawLine(name: string, palette: Palette) {
  return {
    type: "line",
    name,
    step: "end",
    showSymbol: false,
    lineStyle: { color: palette.accent, width: 2 },
    itemStyle: { color: palette.accent },
  };
}

function drawSum(
  history: FleetHistory,
  metric: SingleMetric,
  palette: Palette,
  now: Date,
): EChartsCoreOption {
  const { format, label } = FLEET_METRICS[metric];
  const highest = Math.max(0, ...history.samples.map((sample) => sample[metric] ?? 0));
  return {
    ...drawOverTime(palette, format),
    yAxis: {
      ...drawValues(palette, format),
      ...(metric.endsWith("_bytes") && scaleBytes(highest)),
    },
    series: [
      {
        ...drawLine(label, palette),
        areaStyle: { color: palette.accent, opacity: 0.08 },
        data: stepsOf(history.samples, (sample) => sample[metric], now),
      },
    ],
  };
}

/** The chart of one metric of the fleet until now. */
export function drawFleet(
  history: FleetHistory,
  metric: FleetMetric,
  palette: Palette,
  now: Date,
): EChartsCoreOption {
  if (metric === "bands") return drawBands(history, palette, now);
  if (metric === "average_file_size_bytes") return drawAverage(history, palette, now);
  return drawSum(history, metric, palette, now);
}
