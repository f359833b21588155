import type { EChartsCoreOption } from "echarts/core";
import type { Palette } from "./palette";
import { styleTooltip } from "./tooltip";

const TICKS = 6;

/** An axis of bytes with ticks at round binary units; ECharts would take round decimals. */
export function scaleBytes(highest: number): { min: number; max: number; interval: number } {
  const interval = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, highest) / TICKS)));
  return { min: 0, max: interval * Math.max(1, Math.ceil(highest / interval)), interval };
}

/** What every chart over time shares: its frame, its time axis and its tooltip. */
export function drawOverTime(
  palette: Palette,
  format: (value: number | null) => string,
): EChartsCoreOption {
  return {
    animation: false,
    grid: { left: 8, right: 16, top: 16, bottom: 4, containLabel: true },
    tooltip: {
      trigger: "axis",
      ...styleTooltip(palette),
      valueFormatter: format,
    },
    xAxis: {
      type: "time",
      axisLabel: { color: palette.dim, fontSize: 12, hideOverlap: true },
      axisLine: { lineStyle: { color: palette.line } },
    },
  };
}

/** What bar charts of named classes share: their frame, the axis of names and the tooltip. */
export function drawClasses(
  palette: Palette,
  names: string[],
  format: (value: number | null) => string,
) {
  return {
    animation: false,
    grid: { left: 8, right: 8, top: 16, bottom: 4, containLabel: true },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      ...styleTooltip(palette),
      valueFormatter: format,
    },
    xAxis: {
      type: "category",
      data: names,
      axisLabel: { color: palette.dim, fontSize: 12, lineHeight: 14, hideOverlap: true },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: palette.line } },
    },
  };
}

/** The axis of values beside it. */
export function drawValues(palette: Palette, format: (value: number | null) => string) {
  return {
    type: "value",
    axisLabel: { color: palette.dim, fontSize: 12, formatter: (value: number) => format(value) },
    splitLine: { lineStyle: { color: palette.line } },
  };
}
