import type { EChartsCoreOption } from "echarts/core";
import { drawClasses, drawValues, scaleBytes } from "./axes";
import { formatBytes, formatCount, formatSignificant } from "./format";
import type { Palette } from "./palette";
import type { Day } from "../api/types";

const DAY_MS = 86_400_000;

/** What each day has a bar of, by its name in the API. */
export const DAILY_METRICS = {
  files_removed: { label: "Files removed", format: formatCount },
  requests_saved: { label: "Requests saved per scan", format: formatCount },
  bytes_rewritten: { label: "Bytes rewritten", format: formatBytes },
  gb_hours: { label: "GB-hours", format: formatSignificant },
} as const;

export type DailyMetric = keyof typeof DAILY_METRICS;

/** Every day of the last so many until now, also those without a job. */
export function fillDays(days: Day[], count: number, now: Date): Day[] {
  const known = new Map(days.map((day) => [day.day, day]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(now.getTime() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    const nothing = { files_removed: 0, requests_saved: 0, bytes_rewritten: 0, gb_hours: 0 };
    return known.get(day) ?? { day, ...nothing };
  });
}

export function drawDays(days: Day[], metric: DailyMetric, palette: Palette): EChartsCoreOption {
  const format = DAILY_METRICS[metric].format as (value: number | null) => string;
  const highest = Math.max(0, ...days.map((day) => day[metric]));
  return {
    ...drawClasses(
      palette,
      days.map(({ day }) => day.slice(5)),
      format,
    ),
    yAxis: {
      ...drawValues(palette, format),
      ...(metric === "bytes_rewritten" && scaleBytes(highest)),
    },
    series: [
      {
        type: "bar",
        name: DAILY_METRICS[metric].label,
        barCategoryGap: "25%",
        itemStyle: { color: palette.accent, borderRadius: [2, 2, 0, 0] },
        data: days.map((day) => day[metric]),
      },
    ],
  };
}
