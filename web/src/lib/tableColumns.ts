import type { SortColumn } from "./sorts";

/** The columns of the list of tables that can be chosen, in their order; name and band always show. */
export const TABLE_COLUMNS = {
  average_file_size_bytes: { label: "Avg file size", sort: "average_file_size_bytes" },
  trend: { label: "7 days", sort: null },
  data_files: { label: "Data files", sort: "data_files" },
  data_bytes: { label: "Data size", sort: "data_bytes" },
  small_files: { label: "Small files", sort: "small_files" },
  small_file_ratio: { label: "Small", sort: "small_file_ratio" },
  delete_files: { label: "Deletes", sort: "delete_files" },
  records: { label: "Records", sort: null },
  manifests: { label: "Manifests", sort: "manifests" },
  snapshots: { label: "Snapshots", sort: "snapshots" },
  findings: { label: "Findings", sort: null },
  band_since: { label: "In band since", sort: null },
  measured_at: { label: "Measured", sort: "measured_at" },
} as const satisfies Record<string, { label: string; sort: SortColumn | null }>;

export type TableColumn = keyof typeof TABLE_COLUMNS;

const NAMES = Object.keys(TABLE_COLUMNS) as TableColumn[];
const KEY = "iceberg-maintainer-table-columns";
/** In an address where no column is chosen. */
const NONE = "none";

export const DEFAULT_COLUMNS: readonly TableColumn[] = [
  "average_file_size_bytes",
  "trend",
  "data_files",
  "delete_files",
  "manifests",
  "findings",
];

/** Columns as in an address, `data_files,records`, in their order; undefined without a known one. */
export function parseColumns(text: unknown): TableColumn[] | undefined {
  if (typeof text !== "string") return undefined;
  const named = text.split(",");
  const found = NAMES.filter((name) => named.includes(name));
  return found.length > 0 || text === NONE ? found : undefined;
}

/** Columns for an address; undefined for those that show anyway. */
export function writeColumns(chosen: readonly string[]): string | undefined {
  const text = NAMES.filter((name) => chosen.includes(name)).join(",") || NONE;
  return text === DEFAULT_COLUMNS.join(",") ? undefined : text;
}

/** The columns that this browser chose last, for an address that names none. */
export function recallColumns(): string | undefined {
  try {
    const columns = parseColumns(localStorage.getItem(KEY));
    return columns && writeColumns(columns);
  } catch {
    // The browser keeps nothing for this page.
    return undefined;
  }
}

export function rememberColumns(text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, text);
  } catch {
    // As above.
  }
}
