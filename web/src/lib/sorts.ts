import type { operations } from "../api/schema";

export type TableSort = NonNullable<
  NonNullable<operations["get_tables"]["parameters"]["query"]>["sort"]
>;
export type SortColumn = TableSort extends infer S ? (S extends `-${infer C}` ? C : never) : never;

/** The columns that can be sorted by, with the direction that shows the worst first. */
export const SORT_COLUMNS: Record<
  SortColumn,
  { label: string; first: "ascending" | "descending" }
> = {
  name: { label: "Name", first: "ascending" },
  band: { label: "Severity", first: "descending" },
  average_file_size_bytes: { label: "Average file size", first: "ascending" },
  data_files: { label: "Data files", first: "descending" },
  data_bytes: { label: "Data size", first: "descending" },
  small_files: { label: "Small files", first: "descending" },
  small_file_ratio: { label: "Small-file ratio", first: "descending" },
  delete_files: { label: "Delete files", first: "descending" },
  manifests: { label: "Manifests", first: "descending" },
  snapshots: { label: "Snapshots", first: "descending" },
  measured_at: { label: "Measured", first: "descending" },
};

/** Worst tables first. */
export const DEFAULT_SORT: TableSort = "-band";

export function isTableSort(value: unknown): value is TableSort {
  return typeof value === "string" && value.replace(/^-/, "") in SORT_COLUMNS;
}

export function columnOf(sort: TableSort): SortColumn {
  return sort.replace(/^-/, "") as SortColumn;
}

export function directionOf(sort: TableSort): "ascending" | "descending" {
  return sort.startsWith("-") ? "descending" : "ascending";
}

/** What a click on a column's head asks for: the column's worst first, then the other way round. */
export function sortBy(column: SortColumn, present: TableSort): TableSort {
  const direction =
    columnOf(present) === column && directionOf(present) === SORT_COLUMNS[column].first
      ? "other"
      : "first";
  const isDescending = (SORT_COLUMNS[column].first === "descending") === (direction === "first");
  return isDescending ? `-${column}` : column;
}
