import type { EChartsCoreOption } from "echarts/core";
import { useCallback } from "react";
import type { HistogramBin, TableDetail } from "../../../api/types";
import { Chart } from "../../../components/Chart";
import { Empty } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { formatBytes, formatCount, pluralize } from "../../../lib/format";
import { classifyBin, labelBin } from "../../../lib/histogram";
import type { Palette } from "../../../lib/palette";

/** Iceberg's planner selects files under this share of the target size. */
const SMALL_FILE_RATIO = 0.75;

function drawHistogram(
  bins: HistogramBin[],
  smallBelow: number | null,
  palette: Palette,
): EChartsCoreOption {
  return {
    animation: false,
    grid: { left: 8, right: 8, top: 24, bottom: 4, containLabel: true },
    tooltip: {
      trigger: "axis",
      axisPointer: { type: "shadow" },
      backgroundColor: palette.surface,
      borderColor: palette.line,
      textStyle: { color: palette.text, fontSize: 12 },
      valueFormatter: (value: number) => pluralize(value, "data file"),
    },
    xAxis: {
      type: "category",
      data: bins.map(labelBin),
      axisLabel: { color: palette.dim, fontSize: 11, rotate: 40, interval: 0 },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: palette.line } },
    },
    yAxis: {
      type: "value",
      minInterval: 1,
      axisLabel: { color: palette.dim, fontSize: 11, formatter: formatCount },
      splitLine: { lineStyle: { color: palette.line } },
    },
    series: [
      {
        type: "bar",
        barCategoryGap: "18%",
        label: {
          show: true,
          position: "top",
          color: palette.dim,
          fontSize: 11,
          formatter: ({ value }: { value: number }) => (value > 0 ? formatCount(value) : ""),
        },
        data: bins.map((bin) => ({
          value: bin.files,
          itemStyle: { color: palette[classifyBin(bin, smallBelow)], borderRadius: [2, 2, 0, 0] },
        })),
      },
    ],
  };
}

function describe(bins: HistogramBin[]): string {
  return bins.map((bin) => `${labelBin(bin)}: ${formatCount(bin.files)}`).join("; ");
}

/** The data files by size, and which count as small. */
export function SizeHistogram({ table }: { table: TableDetail }) {
  const { histogram, target_file_size_bytes: target } = table;
  const smallBelow = target === null ? null : Math.floor(target * SMALL_FILE_RATIO);
  const option = useCallback(
    (palette: Palette) => drawHistogram(histogram, smallBelow, palette),
    [histogram, smallBelow],
  );
  const filled = histogram.filter((bin) => bin.files > 0);
  return (
    <Panel
      title="Data files by size"
      aside={
        smallBelow !== null && <span className="dim">small: under {formatBytes(smallBelow)}</span>
      }
    >
      {filled.length === 0 ? (
        <Empty title="No data files to show" />
      ) : (
        <>
          <Chart label={`Data files by size: ${describe(filled)}`} option={option} />
          <ul className="legend">
            <LegendItem color="var(--degraded)">small</LegendItem>
            <LegendItem color="var(--watch)">around the limit</LegendItem>
            <LegendItem color="var(--healthy)">large enough</LegendItem>
          </ul>
        </>
      )}
    </Panel>
  );
}

function LegendItem({ color, children }: { color: string; children: string }) {
  return (
    <li>
      <span className="legend-item">
        <span className="swatch" style={{ background: color }} />
        {children}
      </span>
    </li>
  );
}
