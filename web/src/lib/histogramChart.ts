import type { EChartsCoreOption } from "echarts/core";
import type { HistogramBin, Measurement } from "../api/types";
import { drawClasses, drawValues } from "./axes";
import { formatBytes, formatCount } from "./format";
import { classifyBin, labelBin } from "./histogram";
import type { Palette } from "./palette";

/** What the bars count. */
export type SizeMeasure = "files" | "bytes";

/** One class of sizes now and before the last rewrite; null is unknown. */
export interface SizeClass {
  bin: HistogramBin;
  files: number;
  bytes: number | null;
  before: { files: number; bytes: number | null } | null;
}

/** The classes from the first to the last that has files, or has the target. */
export function findClasses(
  bins: HistogramBin[],
  before: Measurement | null,
  target: number | null,
): SizeClass[] {
  const past = before?.histogram.length === bins.length ? before : null;
  const classes = bins.map((bin, index) => ({
    bin,
    files: bin.files,
    bytes: bin.bytes,
    before: past && {
      files: past.histogram[index] ?? 0,
      bytes: past.histogram_bytes[index] ?? null,
    },
  }));
  const isShown = classes.map(
    (each) => each.files > 0 || (each.before?.files ?? 0) > 0 || contains(each.bin, target),
  );
  return classes.slice(isShown.indexOf(true), isShown.lastIndexOf(true) + 1);
}

function contains(bin: HistogramBin, size: number | null): boolean {
  return size !== null && size >= bin.from_bytes && (bin.to_bytes === null || size < bin.to_bytes);
}

/** The bars of now, filled; those of before as dashed outlines; the target as a line. */
export function drawHistogram(
  classes: SizeClass[],
  measure: SizeMeasure,
  target: number | null,
  smallBelow: number | null,
  palette: Palette,
): EChartsCoreOption {
  const format = measure === "bytes" ? formatBytes : formatCount;
  const targetAt = classes.findIndex((each) => contains(each.bin, target));
  return {
    ...drawClasses(
      palette,
      classes.map((each) => labelBin(each.bin).replace("–", "–\n")),
      format,
    ),
    grid: { left: 8, right: 32, top: 28, bottom: 4, containLabel: true },
    yAxis: { ...drawValues(palette, format), minInterval: 1 },
    series: [
      {
        type: "bar",
        name: "now",
        barCategoryGap: "18%",
        data: classes.map((each) => ({
          value: each[measure],
          itemStyle: {
            color: palette[classifyBin(each.bin, smallBelow)],
            borderRadius: [2, 2, 0, 0],
          },
        })),
        ...(targetAt >= 0 && {
          markLine: {
            silent: true,
            symbol: "none",
            lineStyle: { color: palette.text, type: "dashed" },
            label: { color: palette.text, formatter: `target ${formatBytes(target)}` },
            data: [{ xAxis: targetAt }],
          },
        }),
      },
      ...(classes.some((each) => each.before)
        ? [
            {
              type: "bar",
              name: "before the last rewrite",
              barGap: "-100%",
              itemStyle: { color: "transparent", borderColor: palette.dim, borderType: "dashed" },
              data: classes.map((each) => each.before?.[measure] ?? null),
            },
          ]
        : []),
    ],
  };
}
