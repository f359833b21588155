import type { EChartsCoreOption } from "echarts/core";
import type { TableSummary } from "../api/types";
import { formatBytes } from "./format";
import { colourOf, type Palette } from "./palette";
import { BAND_WORDS } from "./words";

/** On every colour of a band, in both themes. */
const LABEL = "#10161d";

/** The measured tables by namespace: each as large as its data, in the colour of its band. */
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
      backgroundColor: palette.surface,
      borderColor: palette.line,
      textStyle: { color: palette.text, fontSize: 12 },
      valueFormatter: formatBytes,
    },
    series: [
      {
        type: "treemap",
        left: 0,
        right: 0,
        top: 0,
        bottom: 0,
        roam: false,
        nodeClick: false,
        breadcrumb: { show: false },
        label: { color: LABEL, fontSize: 12 },
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
            ...(table.band && { itemStyle: { color: colourOf(table.band, palette) } }),
            tooltip: { formatter: () => describeTable(table) },
          })),
        })),
      },
    ],
  };
}

function describeTable({ name, band, data_bytes: bytes }: TableSummary): string {
  // The tooltip is HTML, and a name may hold any character.
  const safe = name.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  return `${safe}: ${formatBytes(bytes)}, ${band === null ? "not measured" : BAND_WORDS[band].toLowerCase()}`;
}
