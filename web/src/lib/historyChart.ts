import type { EChartsCoreOption } from "echarts/core";
import type { History, Job } from "../api/types";
import { drawOverTime, drawValues, scaleBytes } from "./axes";
import { pluralize } from "./format";
import { HISTORY_METRICS, type HistoryMetric } from "./metrics";
import type { Palette } from "./palette";
import { RULE_WORDS } from "./words";

/** The most markers; jobs that ended near each other share one. */
export const MOST_MARKERS = 12;
const FONT_SIZE = 10;
const LEAST_SPAN_MS = 60_000;

export interface FinishedJob {
  job: Job;
  /** The time at which Spark finished the job. */
  at: string;
}

/** The proved and the failed jobs, newest first. */
export function findFinished(jobs: Job[]): FinishedJob[] {
  return jobs
    .flatMap((job) => {
      const at = job.ended_at ?? job.finished_at;
      const isShown = job.state === "succeeded" || job.state === "failed";
      return at !== null && isShown ? [{ job, at }] : [];
    })
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** The result of a finished job: a job without a proof has failed. */
export const sayResult = ({ state }: Job) => (state === "failed" ? "failed" : "proved");

export interface Marker {
  at: string;
  label: string;
  hasFailed: boolean;
}

/** One marker for each part of the time range in which jobs ended; it stands at the newest. */
export function thinMarkers(finished: FinishedJob[], first: number, last: number): Marker[] {
  const width = Math.max(1, last - first) / MOST_MARKERS;
  const parts = new Map<number, FinishedJob[]>();
  for (const each of finished) {
    const at = Date.parse(each.at);
    if (at < first || at > last) continue;
    const part = Math.min(MOST_MARKERS - 1, Math.floor((at - first) / width));
    parts.set(part, [...(parts.get(part) ?? []), each]);
  }
  return [...parts.values()].flatMap((jobs) => {
    const [newest] = jobs;
    if (!newest) return [];
    const failed = jobs.filter(({ job }) => job.state === "failed").length;
    const label =
      jobs.length === 1
        ? `${RULE_WORDS[newest.job.rule]}: ${sayResult(newest.job)}`
        : `${pluralize(jobs.length, "job")}: ${failed > 0 ? `${failed} failed` : "all proved"}`;
    return [{ at: newest.at, label, hasFailed: failed > 0 }];
  });
}

function drawMarkers(markers: Marker[], palette: Palette) {
  return {
    symbol: "none",
    silent: true,
    animation: false,
    data: markers.map(({ at, label, hasFailed }) => ({
      xAxis: at,
      lineStyle: { color: hasFailed ? palette.critical : palette.fine, type: "dashed", width: 1.5 },
      label: {
        // Along its line.
        position: "insideEndTop",
        formatter: label,
        color: palette.text,
        fontSize: FONT_SIZE,
        // Legible across the metric's line.
        textBorderColor: palette.surface,
        textBorderWidth: 3,
      },
    })),
  };
}

/** One metric over time, with a marker where a job ended. */
export function drawHistory(
  { samples }: History,
  metric: HistoryMetric,
  finished: FinishedJob[],
  palette: Palette,
): EChartsCoreOption {
  const { format, label } = HISTORY_METRICS[metric];
  const times = [...samples, ...finished].map(({ at }) => Date.parse(at));
  const last = Math.max(...times);
  // A time axis whose ends are equal would show days around the only sample.
  const first = Math.min(last - LEAST_SPAN_MS, ...times);
  const newest = samples.at(-1);
  const points = samples.map(({ at, value }) => [at, value]);
  // The newest value is still valid at the newest job.
  if (newest && Date.parse(newest.at) < last)
    points.push([new Date(last).toISOString(), newest.value]);
  const shared = drawOverTime(palette, format);
  return {
    ...shared,
    xAxis: { ...(shared.xAxis as object), min: first, max: last },
    yAxis: {
      ...drawValues(palette, format),
      ...(metric.endsWith("_bytes") &&
        scaleBytes(Math.max(0, ...samples.map(({ value }) => value ?? 0)))),
    },
    series: [
      {
        type: "line",
        name: label,
        // A value is valid until the next sample.
        step: "end",
        symbolSize: 5,
        showSymbol: samples.length < 60,
        lineStyle: { color: palette.accent, width: 2 },
        itemStyle: { color: palette.accent },
        areaStyle: { color: palette.accent, opacity: 0.08 },
        data: points,
        markLine: drawMarkers(thinMarkers(finished, first, last), palette),
      },
    ],
  };
}
