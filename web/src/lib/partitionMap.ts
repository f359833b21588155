import type { EChartsCoreOption } from "echarts/core";
import type { Partition } from "../api/types";
import { formatBytes, formatCount, pluralize } from "./format";
import { colourOf, type Palette } from "./palette";
import { escapeHtml, styleTooltip } from "./tooltip";
import { TREE_MAP, TREE_MAP_LABEL } from "./treeMap";
import { BAND_WORDS } from "./words";

/** The partitions that are not drawn one by one. */
export interface Rest {
  partitions: number;
  bytes: number;
}

/** What remains of a table without its largest partitions; the total is unknown with its bytes. */
export function sumRest(shown: Partition[], total: number, bytes: number | null): Rest | null {
  const known = shown.reduce((sum, { data_bytes: own }) => sum + own, 0);
  const partitions = total - shown.length;
  // The figures are of two answers, between which the table may have changed.
  return partitions <= 0 || bytes === null
    ? null
    : { partitions, bytes: Math.max(0, bytes - known) };
}

export const namePartition = ({ partition }: Partition) => partition || "(unpartitioned)";

// A wide map has about this many pixels, and a character of its labels this width.
const PIXELS = 300_000;
const CHARACTER_WIDTH = 7;

/** The values of a partition without the names of its fields. */
const labelOf = (partition: Partition) =>
  namePartition(partition)
    .split("/")
    .map((part) => part.slice(part.indexOf("=") + 1))
    .join("/");

/** True where a square of this share of the map is wide enough for the text. */
const hasRoom = (text: string, share: number) =>
  Math.sqrt(share * PIXELS) >= text.length * CHARACTER_WIDTH;

function describe(partition: Partition): string {
  const { data_files: files, data_bytes: bytes, average_file_size_bytes: average } = partition;
  return [
    escapeHtml(namePartition(partition)),
    `${formatBytes(bytes)} in ${pluralize(files, "file")}`,
    `${formatBytes(average)} on average${partition.band ? `: ${BAND_WORDS[partition.band].toLowerCase()}` : ""}`,
  ].join("<br>");
}

/**
 * Partitions as areas: each as large as its data, in the colour of its average file size; grey
 * where files are small and maintenance cannot help.
 */
export function drawPartitions(
  shown: Partition[],
  rest: Rest | null,
  palette: Palette,
  canImprove = true,
): EChartsCoreOption {
  const colour = ({ band }: Partition) => {
    if (!band) return palette.line;
    return canImprove || band === "healthy" ? colourOf(band, palette) : palette.neutral;
  };
  const drawn = shown.reduce((sum, { data_bytes: bytes }) => sum + bytes, rest?.bytes ?? 0);
  return {
    animation: false,
    tooltip: styleTooltip(palette),
    series: [
      {
        ...TREE_MAP,
        label: { color: TREE_MAP_LABEL, fontSize: 12 },
        itemStyle: { borderColor: palette.surface, borderWidth: 0, gapWidth: 1 },
        data: [
          ...shown.map((partition) => ({
            name: namePartition(partition),
            value: partition.data_bytes,
            label: {
              show: hasRoom(labelOf(partition), partition.data_bytes / drawn),
              formatter: () => labelOf(partition),
            },
            itemStyle: { color: colour(partition) },
            tooltip: { formatter: () => describe(partition) },
          })),
          ...(rest
            ? [
                {
                  name: pluralize(rest.partitions, "other partition"),
                  value: rest.bytes,
                  label: { color: palette.text },
                  itemStyle: { color: palette.line },
                  tooltip: {
                    formatter: () =>
                      `${formatCount(rest.partitions)} smaller partitions<br>${formatBytes(rest.bytes)}`,
                  },
                },
              ]
            : []),
        ],
      },
    ],
  };
}
