import type { EChartsCoreOption } from "echarts/core";
import type { ReportLine } from "../api/types";
import { formatBytes, formatRatio } from "./format";
import type { Palette } from "./palette";
import { styleTooltip } from "./tooltip";

// A size is no state: small files that maintenance cannot help are not red.
const COLOURS = ["accent", "info", "neutral", "line"] as const;

/** The files of one class of sizes. */
export interface SizeShare {
  label: string;
  colour: (typeof COLOURS)[number];
  share: number;
}

/** The shares of the classes between the report's sizes, the smallest first; together 1. */
export function splitShares(line: ReportLine): SizeShare[] {
  const { small } = line;
  const last = small.at(-1);
  const classes = small.map(({ below_bytes, share }, index) => {
    const before = small[index - 1];
    return {
      label: before
        ? `${formatBytes(before.below_bytes)} to ${formatBytes(below_bytes)}`
        : `under ${formatBytes(below_bytes)}`,
      share: share - (before?.share ?? 0),
    };
  });
  return [
    ...classes,
    { label: `${formatBytes(last?.below_bytes)} or more`, share: 1 - (last?.share ?? 0) },
  ].map((each, index) => ({ ...each, colour: COLOURS[index] ?? "line" }));
}

/** A bar for each namespace: its files by size, in shares. */
export function drawShares(lines: ReportLine[], palette: Palette): EChartsCoreOption {
  const shares = lines.map(splitShares);
  return {
    animation: false,
    grid: { left: 8, right: 24, top: 8, bottom: 4, containLabel: true },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      ...styleTooltip(palette),
      valueFormatter: formatRatio,
    },
    xAxis: {
      type: "value",
      max: 1,
      axisLabel: { color: palette.dim, fontSize: 12, formatter: formatRatio },
      splitLine: { lineStyle: { color: palette.line } },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: lines.map(({ name }) => name),
      axisLabel: { color: palette.text, fontSize: 12, width: 180, overflow: "truncate" },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: palette.line } },
    },
    series: (shares[0] ?? []).map(({ label, colour }, index) => ({
      type: "bar",
      name: label,
      stack: "files",
      barMaxWidth: 18,
      itemStyle: { color: palette[colour], borderColor: palette.surface, borderWidth: 1 },
      data: shares.map((each) => each[index]?.share ?? 0),
    })),
  };
}
