import { Link } from "@tanstack/react-router";
import type { Ref } from "react";
import type { TableSummary } from "../../api/types";
import { TableBadges } from "../../components/badges";
import { FindingWords } from "../../components/FindingWords";
import { TimeAgo } from "../../components/TimeAgo";
import { formatBytes, formatCount, formatRatio, UNKNOWN } from "../../lib/format";
import { ROW_LINK } from "../../lib/rowKeys";

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

interface TableRowProps {
  table: TableSummary;
  index?: number;
  measure?: Ref<HTMLTableRowElement>;
}

export function TableRow({ table, index, measure }: TableRowProps) {
  const { small_files: small, target_file_size_bytes: target } = table;
  return (
    <tr role="row" ref={measure} data-index={index}>
      <th scope="row" role="rowheader" className="cell-two">
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
      </th>
      <td role="cell">
        <TableBadges table={table} />
      </td>
      <td
        role="cell"
        className="num"
        data-label="Average file size"
        title={target === null ? undefined : `target ${formatBytes(target)}`}
      >
        {formatBytes(table.average_file_size_bytes)}
      </td>
      <td
        role="cell"
        className="num"
        data-label="Data files"
        title={table.data_bytes === null ? undefined : formatBytes(table.data_bytes)}
      >
        {formatCount(table.data_files)}
      </td>
      <td
        role="cell"
        className="num"
        data-label="Small"
        title={small === null ? undefined : `${formatCount(small)} small files`}
      >
        {formatRatio(table.small_file_ratio)}
      </td>
      <td role="cell" className="num" data-label="Delete files" title={describeDeletes(table)}>
        {formatCount(countDeleteFiles(table))}
      </td>
      <td role="cell" className="num" data-label="Manifests">
        {formatCount(table.manifests)}
      </td>
      <td role="cell" className="num" data-label="Snapshots">
        {formatCount(table.snapshots)}
      </td>
      <td role="cell" className="words cell-wide">
        <FindingWords findings={table.findings} fault={table.fault} reason={table.reason} />
      </td>
      <td role="cell" className="num" data-label="Measured">
        {table.measured_at ? <TimeAgo time={table.measured_at} /> : UNKNOWN}
      </td>
    </tr>
  );
}
