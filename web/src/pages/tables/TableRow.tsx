import { Checkbox } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode, Ref } from "react";
import type { TableSummary } from "../../api/types";
import { TableBadges } from "../../components/badges";
import { FindingLine } from "../../components/FindingWords";
import { Sparkline } from "../../components/Sparkline";
import { TimeAgo } from "../../components/TimeAgo";
import { formatBytes, formatCount, formatRatio, formatShort, UNKNOWN } from "../../lib/format";
import { ROW_LINK } from "../../lib/rowKeys";
import { DEFAULT_COLUMNS, TABLE_COLUMNS, type TableColumn } from "../../lib/tableColumns";

/** All delete files of a table; null when any kind is not known. */
export function countDeleteFiles(table: TableSummary): number | null {
  const {
    position_delete_files: position,
    equality_delete_files: equality,
    deletion_vectors: vectors,
  } = table;
  return position === null || equality === null || vectors === null
    ? null
    : position + equality + vectors;
}

function describeDeletes(table: TableSummary): string {
  const {
    position_delete_files: position,
    equality_delete_files: equality,
    deletion_vectors: vectors,
  } = table;
  return (
    `position ${formatCount(position)}, equality ${formatCount(equality)}, ` +
    `deletion vectors ${formatCount(vectors)}`
  );
}

interface Cell {
  /** Beside the figure in a narrow window. */
  label?: string;
  show: (table: TableSummary) => ReactNode;
  title?: (table: TableSummary) => string | undefined;
}

const sayTime = (time: string | null) => (time ? <TimeAgo time={time} /> : UNKNOWN);

const count = (read: (table: TableSummary) => number | null): Cell => ({
  show: (table) => formatShort(read(table)),
  title: (table) => formatCount(read(table)),
});

const CELLS: Record<Exclude<TableColumn, "findings" | "trend">, Cell> = {
  average_file_size_bytes: {
    label: "Average file size",
    show: (table) => formatBytes(table.average_file_size_bytes),
    title: ({ target_file_size_bytes: target }) =>
      target === null ? undefined : `target ${formatBytes(target)}`,
  },
  data_files: {
    show: (table) => formatShort(table.data_files),
    title: ({ data_files: files, data_bytes: bytes }) =>
      bytes === null ? undefined : `${formatCount(files)}, ${formatBytes(bytes)}`,
  },
  data_bytes: { show: (table) => formatBytes(table.data_bytes) },
  small_files: count((table) => table.small_files),
  small_file_ratio: {
    show: (table) => formatRatio(table.small_file_ratio),
    title: ({ small_files: small }) =>
      small === null ? undefined : `${formatCount(small)} small files`,
  },
  delete_files: {
    label: "Delete files",
    show: (table) => formatShort(countDeleteFiles(table)),
    title: describeDeletes,
  },
  records: count((table) => table.records),
  manifests: count((table) => table.manifests),
  snapshots: count((table) => table.snapshots),
  band_since: { show: (table) => sayTime(table.band_since) },
  measured_at: { show: (table) => sayTime(table.measured_at) },
};

interface TableRowProps {
  table: TableSummary;
  columns?: readonly TableColumn[];
  index?: number;
  measure?: Ref<HTMLTableRowElement>;
  selection?: Selection | undefined;
  /** The tables whose histories are asked for together. */
  among?: string[] | undefined;
}

/** The tables that are selected, by their full names. */
export interface Selection {
  has: (table: string) => boolean;
  isFull: boolean;
  toggle: (table: TableSummary) => void;
}

export function TableRow({
  table,
  columns = DEFAULT_COLUMNS,
  index,
  measure,
  selection,
  among,
}: TableRowProps) {
  const isSelected = selection?.has(table.table) ?? false;
  return (
    <tr role="row" ref={measure} data-index={index}>
      <th scope="row" role="rowheader" className="cell-two">
        <span className="table-cell">
          {selection && (
            <Checkbox
              size="xs"
              aria-label={`Select ${table.table}`}
              checked={isSelected}
              disabled={!isSelected && selection.isFull}
              onChange={() => selection.toggle(table)}
            />
          )}
          <span className="table-name">
            <Link
              {...ROW_LINK}
              to="/tables/$catalog/$namespace/$table"
              params={{ catalog: table.catalog, namespace: table.namespace, table: table.name }}
            >
              {table.name}
            </Link>
            <span className="table-space">
              {table.catalog}.{table.namespace}
            </span>
          </span>
        </span>
      </th>
      <td role="cell">
        <TableBadges table={table} />
      </td>
      {columns.map((column) => {
        if (column === "findings")
          return (
            <td key={column} role="cell" className="cell-line cell-wide">
              <FindingLine table={table} />
            </td>
          );
        if (column === "trend")
          return (
            <td key={column} role="cell" className="cell-none">
              <Sparkline
                table={table.table}
                among={among ?? [table.table]}
                metric="average_file_size_bytes"
              />
            </td>
          );
        const { label = TABLE_COLUMNS[column].label, show, title } = CELLS[column];
        return (
          <td key={column} role="cell" className="num" data-label={label} title={title?.(table)}>
            {show(table)}
          </td>
        );
      })}
    </tr>
  );
}
