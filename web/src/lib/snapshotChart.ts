import type { EChartsCoreOption } from "echarts/core";
import type { Snapshot } from "../api/types";
import { drawOverTime } from "./axes";
import type { Palette } from "./palette";
import { formatExact } from "./time";

const ROWS = ["Would expire", "Snapshots", "Branches and tags", "Pins"] as const;
type Row = (typeof ROWS)[number];

interface Point {
  value: [string, Row];
  name: string;
}

function pointsOf(snapshots: Snapshot[], row: Row, read: (snapshot: Snapshot) => string): Point[] {
  return snapshots.flatMap((snapshot) => {
    const name = read(snapshot);
    return name ? [{ value: [snapshot.committed_at, row] as [string, Row], name }] : [];
  });
}

/** The snapshots on a time axis: those that expiry would remove, and what points to the others. */
export function drawSnapshots(snapshots: Snapshot[], palette: Palette): EChartsCoreOption {
  const rows: [Row, string, (snapshot: Snapshot) => string][] = [
    ["Would expire", palette.small, (each) => (each.expires ? each.snapshot_id : "")],
    ["Snapshots", palette.accent, (each) => (each.expires ? "" : each.snapshot_id)],
    ["Branches and tags", palette.fine, (each) => each.refs.join(", ")],
    ["Pins", palette.critical, (each) => each.pins.join(", ")],
  ];
  const shared = drawOverTime(palette, () => "");
  return {
    ...shared,
    // The newest snapshot is at the right edge, and its branch has a name.
    grid: { left: 8, right: 64, top: 8, bottom: 4, containLabel: true },
    tooltip: {
      ...(shared.tooltip as object),
      trigger: "item",
      formatter: ({ data }: { data: Point }) => `${data.name}<br>${formatExact(data.value[0])}`,
    },
    yAxis: {
      type: "category",
      data: ROWS,
      axisLabel: { color: palette.dim, fontSize: 12 },
      axisTick: { show: false },
      axisLine: { show: false },
      splitLine: { show: true, lineStyle: { color: palette.line } },
    },
    series: rows.map(([row, color, read]) => ({
      type: "line",
      name: row,
      lineStyle: { width: 0 },
      symbol: row === "Pins" ? "pin" : row === "Branches and tags" ? "diamond" : "circle",
      symbolSize: row === "Pins" || row === "Branches and tags" ? 14 : 8,
      showAllSymbol: true,
      itemStyle: { color, opacity: 0.8 },
      label: {
        show: row === "Pins" || row === "Branches and tags",
        position: "right",
        color: palette.dim,
        fontSize: 12,
        formatter: ({ data }: { data: Point }) => data.name,
      },
      labelLayout: { hideOverlap: true },
      data: pointsOf(snapshots, row, read),
    })),
  };
}
