import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "../../api/status";
import type { Overview } from "../../api/types";
import { StateCounts } from "../../components/badges";
import { Tile } from "../../components/Panel";
import { formatBytes, formatCount, formatRatio, pluralize } from "../../lib/format";

/** The fleet at a glance, and what maintenance has saved. */
export function OverviewTiles({ overview }: { overview: Overview }) {
  const states = useQuery(statusQuery).data?.states;
  return (
    <dl className="tiles">
      <div className="tile tile-wide">
        <dt>Tables</dt>
        <dd className="tile-value">{formatCount(overview.tables)}</dd>
        <dd>
          <StateCounts states={states ?? {}} />
        </dd>
      </div>
      <Tile label="Average file size" value={formatBytes(overview.average_file_size_bytes)}>
        all bytes / all data files
      </Tile>
      <Tile label="Data files" value={formatCount(overview.data_files)}>
        {pluralize(overview.small_files, "small file")}
      </Tile>
      <Tile label="Data size" value={formatBytes(overview.data_bytes)}>
        {pluralize(overview.manifests, "manifest")}, {pluralize(overview.snapshots, "snapshot")}
      </Tile>
      <Tile label="Live files" value={formatRatio(overview.live_file_ratio)}>
        of stored data files are in current snapshots
      </Tile>
      {overview.files_removed !== null && (
        <Tile label="Files removed by maintenance" value={formatCount(overview.files_removed)} wide>
          {formatBytes(overview.bytes_rewritten ?? 0)} rewritten,{" "}
          {pluralize(overview.manifests_removed ?? 0, "manifest")} and{" "}
          {pluralize(overview.snapshots_removed ?? 0, "snapshot")} fewer
        </Tile>
      )}
    </dl>
  );
}
