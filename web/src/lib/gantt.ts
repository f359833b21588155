import type { EChartsCoreOption } from "echarts/core";
import type { Job, JobState } from "../api/types";
import { drawOverTime } from "./axes";
import { formatDuration } from "./format";
import { locateTable } from "./identifier";
import type { Palette } from "./palette";
import { secondsBetween } from "./time";
import { RULE_WORDS, STATE_WORDS } from "./words";

/** So many tables have a row; jobs of further tables are in the list only. */
export const MOST_ROWS = 30;
const BAR_SHARE = 0.6;
const LEAST_WIDTH = 3;
const NAME_WIDTH = 120;

export interface Bar {
  job: Job;
  row: number;
  /** Waiting until `starts`, at work until `ends`; milliseconds since 1970. */
  created: number;
  starts: number;
  ends: number;
}

export interface Gantt {
  /** The tables, the one with the newest job first. */
  tables: string[];
  bars: Bar[];
}

/** One row for each table and one bar for each of its jobs; an unfinished job lasts until now. */
export function layOutGantt(jobs: Job[], now: number): Gantt {
  const tables = [...new Set(jobs.map((job) => job.table))].slice(0, MOST_ROWS);
  const bars = jobs.flatMap((job) => {
    const row = tables.indexOf(job.table);
    const end = job.ended_at ?? job.finished_at;
    const ends = end === null ? now : Date.parse(end);
    const starts = job.started_at === null ? ends : Date.parse(job.started_at);
    return row < 0 ? [] : [{ job, row, created: Date.parse(job.created_at), starts, ends }];
  });
  return { tables, bars };
}

function colourOf(state: JobState, palette: Palette): string {
  const colours: Partial<Record<JobState, string>> = {
    succeeded: palette.fine,
    failed: palette.critical,
    running: palette.accent,
    submitted: palette.accent,
    unknown: palette.around,
  };
  return colours[state] ?? palette.dim;
}

function describe({ job, created, starts, ends }: Bar): string {
  const waited = formatDuration((starts - created) / 1000);
  const worked = secondsBetween(new Date(starts).toISOString(), new Date(ends).toISOString());
  return [
    `${RULE_WORDS[job.rule]}: ${STATE_WORDS[job.state].toLowerCase()}`,
    job.table,
    `waited ${waited}, worked ${formatDuration(worked)}`,
  ].join("\n");
}

interface Drawing {
  coord: (point: [number, number]) => [number, number];
  size: (size: [number, number]) => [number, number];
}

/** The bars of jobs over time: pale while a job waits, in the colour of its state at work. */
export function drawGantt({ tables, bars }: Gantt, palette: Palette): EChartsCoreOption {
  const overTime = drawOverTime(palette, String);
  return {
    ...overTime,
    tooltip: {
      ...(overTime.tooltip as object),
      trigger: "item",
      renderMode: "richText",
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const bar = bars[dataIndex];
        return bar ? describe(bar) : "";
      },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: tables.map((table) => locateTable(table)?.table ?? table),
      axisLabel: {
        color: palette.dim,
        fontSize: 12,
        width: NAME_WIDTH,
        overflow: "truncate",
      },
      axisLine: { lineStyle: { color: palette.line } },
      axisTick: { show: false },
    },
    series: [
      {
        type: "custom",
        encode: { x: [1, 2, 3], y: 0 },
        data: bars.map(({ row, created, starts, ends }) => [row, created, starts, ends]),
        renderItem: ({ dataIndex }: { dataIndex: number }, api: Drawing) => {
          const bar = bars[dataIndex];
          if (!bar) return null;
          const height = api.size([0, 1])[1] * BAR_SHARE;
          const [from, middle] = api.coord([bar.created, bar.row]);
          const [start] = api.coord([bar.starts, bar.row]);
          const [end] = api.coord([bar.ends, bar.row]);
          const box = (x: number, to: number, least: number) => ({
            x,
            y: middle - height / 2,
            width: Math.max(least, to - x),
            height,
          });
          return {
            type: "group",
            children: [
              { type: "rect", shape: box(from, start, 0), style: { fill: palette.line } },
              {
                type: "rect",
                shape: box(start, end, LEAST_WIDTH),
                style: { fill: colourOf(bar.job.state, palette) },
              },
            ],
          };
        },
      },
    ],
  };
}
