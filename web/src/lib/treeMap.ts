import type { EChartsCoreOption } from "echarts/core";
import type { TableSummary } from "../api/types";
import { formatBytes } from "./format";
import { colourOfTone, type Palette } from "./palette";
import { escapeHtml, styleTooltip } from "./tooltip";
import { TABLE_STATE_TONES, TABLE_STATE_WORDS } from "./words";

/** The colour of a label on every colour of a state, in both themes. */
export const TREE_MAP_LABEL = "#10161d";

/** What every tree map shares: it fills its frame and does not move. */
export const TREE_MAP = {
  type: "treemap",
  left: 0,
  right: 0,
  top: 0,
  bottom: 0,
  roam: false,
  nodeClick: false,
  breadcrumb: { show: false },
};

/** The measured tables by namespace: each as large as its data, in the colour of its state. */
export function drawTreeMap(tables: TableSummary[], palette: Palette): EChartsCoreOption {
  const spaces = new Map<string, TableSummary[]>();
  for (const table of tables) {
    if (!table.data_bytes || table.band === null) continue;
    const space = `${table.catalog}.${table.namespace}`;
    spaces.set(space, [...(spaces.get(space) ?? []), table]);
  }
  return {
    animation: false,
    tooltip: {
      ...styleTooltip(palette),
      valueFormatter: formatBytes,
    },
    series: [
      {
        ...TREE_MAP,
        label: { color: TREE_MAP_LABEL, fontSize: 12 },
        upperLabel: { show: true, height: 20, color: palette.text, fontSize: 12 },
        itemStyle: { borderColor: palette.surface, gapWidth: 1 },
        levels: [
          { upperLabel: { show: false } },
          { itemStyle: { borderWidth: 2, gapWidth: 1, color: palette.surface } },
        ],
        data: [...spaces].map(([name, inside]) => ({
          name,
          itemStyle: { color: palette.line, borderColor: palette.line },
          children: inside.map((table) => ({
            name: table.name,
            value: table.data_bytes,
            ...(table.status && {
              itemStyle: { color: colourOfTone(TABLE_STATE_TONES[table.status.state], palette) },
            }),
            tooltip: { formatter: () => describeTable(table) },
          })),
        })),
      },
    ],
  };
}

function describeTable({ name, status, data_bytes: bytes }: TableSummary): string {
  const state = status ? TABLE_STATE_WORDS[status.state].toLowerCase() : "not measured";
  return `${escapeHtml(name)}: ${formatBytes(bytes)}, ${state}`;
}
