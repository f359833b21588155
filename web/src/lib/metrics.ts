import { formatBytes, formatCount, formatRatio } from "./format";

interface MetricDescription {
  label: string;
  format: (value: number | null) => string;
}

/** The metrics with a history on the page, by their name in the API. */
export const HISTORY_METRICS = {
  average_file_size_bytes: { label: "Average file size", format: formatBytes },
  data_files: { label: "Data files", format: formatCount },
  small_file_ratio: { label: "Small-file ratio", format: formatRatio },
  manifests: { label: "Manifests", format: formatCount },
  snapshots: { label: "Snapshots", format: formatCount },
  data_bytes: { label: "Data size", format: formatBytes },
  records: { label: "Records", format: formatCount },
  metadata_bytes: { label: "metadata.json size", format: formatBytes },
  delete_file_ratio: { label: "Delete-file ratio", format: formatRatio },
  live_file_ratio: { label: "Live-file ratio", format: formatRatio },
  manifest_excess: { label: "Excess manifests", format: formatCount },
  storage_files: { label: "Files in storage", format: formatCount },
  growth_bytes_per_day: { label: "Growth per day", format: formatBytes },
} as const satisfies Record<string, MetricDescription>;

export type HistoryMetric = keyof typeof HISTORY_METRICS;

export function isHistoryMetric(value: unknown): value is HistoryMetric {
  return typeof value === "string" && value in HISTORY_METRICS;
}

/** The sums with a history on the fleet page, by their name in the API. */
export const FLEET_METRICS = {
  bands: { label: "Tables by band", format: formatCount },
  average_file_size_bytes: { label: "Average file size", format: formatBytes },
  data_files: { label: "Data files", format: formatCount },
  small_files: { label: "Small files", format: formatCount },
  data_bytes: { label: "Data size", format: formatBytes },
  delete_files: { label: "Delete files", format: formatCount },
  manifests: { label: "Manifests", format: formatCount },
  snapshots: { label: "Snapshots", format: formatCount },
  live_file_ratio: { label: "Live-file ratio", format: formatRatio },
} as const satisfies Record<string, MetricDescription>;

export type FleetMetric = keyof typeof FLEET_METRICS;

export function isFleetMetric(value: unknown): value is FleetMetric {
  return typeof value === "string" && value in FLEET_METRICS;
}

/** Time ranges of the history chart, in hours. */
export const HISTORY_RANGES = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 } as const;
export type HistoryRange = keyof typeof HISTORY_RANGES;

export function isHistoryRange(value: unknown): value is HistoryRange {
  return typeof value === "string" && value in HISTORY_RANGES;
}
