import type { TableDetail } from "../../../api/types";
import { Tile } from "../../../components/Panel";
import { TimeAgo } from "../../../components/TimeAgo";
import {
  formatBytes,
  formatCount,
  formatRatio,
  formatSignificant,
  pluralize,
} from "../../../lib/format";

/** The table's figures at the snapshot measured last. */
export function KeyFigures({ table }: { table: TableDetail }) {
  const {
    position_delete_files: position,
    equality_delete_files: equality,
    deletion_vectors: vectors,
  } = table;
  const deletes =
    position === null || equality === null || vectors === null
      ? null
      : position + equality + vectors;
  return (
    <dl className="tiles">
      <Tile label="Average file size" value={formatBytes(table.average_file_size_bytes)}>
        target {formatBytes(table.target_file_size_bytes)}
      </Tile>
      <Tile label="Data files" value={formatCount(table.data_files)}>
        {formatBytes(table.data_bytes)}
        {table.partitions !== null && <> in {pluralize(table.partitions, "partition")}</>}
      </Tile>
      <Tile label="Small files" value={formatRatio(table.small_file_ratio)}>
        {table.small_files === null ? "not known" : pluralize(table.small_files, "file")},{" "}
        {formatBytes(table.small_file_bytes)}
      </Tile>
      <Tile label="Delete files" value={formatCount(deletes)}>
        {deletes === 0
          ? "none"
          : `position ${formatCount(position)}, equality ${formatCount(equality)}, ` +
            `vectors ${formatCount(vectors)}; ${formatBytes(table.delete_bytes)}`}
      </Tile>
      <Tile label="Manifests" value={formatCount(table.manifests)}>
        {formatBytes(table.manifest_bytes)}; data {formatCount(table.data_manifests)}, deletes{" "}
        {formatCount(table.delete_manifests)}
      </Tile>
      <Tile label="Snapshots" value={formatCount(table.snapshots)}>
        oldest <TimeAgo time={table.oldest_snapshot_at} />, newest{" "}
        <TimeAgo time={table.newest_snapshot_at} />
      </Tile>
      <Tile label="Records" value={formatCount(table.records)}>
        format version {formatCount(table.format_version)}
      </Tile>
      {table.reads_per_day !== null && (
        <Tile label="Reads a day" value={formatSignificant(table.reads_per_day)}>
          scans that engines reported, last 7 days
        </Tile>
      )}
    </dl>
  );
}
