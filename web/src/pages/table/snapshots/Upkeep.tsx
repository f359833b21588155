import type { TableDetail } from "../../../api/types";
import { Panel } from "../../../components/Panel";
import { TimeAgo } from "../../../components/TimeAgo";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatRatio,
  pluralize,
  UNKNOWN,
} from "../../../lib/format";

const WRITERS_SHOWN = 3;
const REFS_SHOWN = 5;

/** A rate under 0.1 is written as such, not as 0. */
function formatRate(rate: number | null): string {
  if (rate === null) return UNKNOWN;
  return rate > 0 && rate < 0.1 ? "<0.1" : formatCount(rate);
}

function Growth({ table }: { table: TableDetail }) {
  const { growth_bytes_per_day: bytes, growth_records_per_day: records } = table;
  if (bytes === null && records === null) return <>{UNKNOWN}</>;
  return (
    <>
      {formatBytes(bytes)} and {formatCount(records === null ? null : Math.round(records))} records
      a day
    </>
  );
}

function Holds({ table }: { table: TableDetail }) {
  const others = table.ref_retention.filter((ref) => ref.name !== "main").slice(0, REFS_SHOWN);
  if (others.length === 0) return <>only main</>;
  return (
    <>
      {others.map((ref) => (
        <div key={ref.name}>
          {ref.name}{" "}
          <span className="dim">
            {ref.is_ours ? "rollback tag" : ref.is_branch ? "branch" : "tag"},{" "}
            {pluralize(ref.retained_snapshots, "snapshot")}, oldest{" "}
            <TimeAgo time={ref.oldest_retained_at} />
          </span>
        </div>
      ))}
    </>
  );
}

/** The table's writers, and what it stores besides its live files. */
export function Upkeep({ table }: { table: TableDetail }) {
  const writers = table.writers.slice(0, WRITERS_SHOWN);
  return (
    <Panel title="Writes and retention">
      <dl className="description">
        <dt>Commits per hour</dt>
        <dd>
          {formatRate(table.commits_per_hour)}
          {table.commit_window_seconds !== null && (
            <span className="dim"> over {formatDuration(table.commit_window_seconds)}</span>
          )}
          {writers.length > 0 && (
            <div className="dim">
              {writers
                .map((writer) => `${writer.writer} ${formatRate(writer.commits_per_hour)}`)
                .join(", ")}
            </div>
          )}
        </dd>
        <dt>Growth</dt>
        <dd>
          <Growth table={table} />
        </dd>
        <dt>Live share of stored files</dt>
        <dd>
          {formatRatio(table.live_file_ratio)}
          {table.kept_data_files !== null && (
            <span className="dim">
              {" "}
              ({formatCount(table.data_files)} of {formatCount(table.kept_data_files)})
            </span>
          )}
        </dd>
        <dt>Files in storage</dt>
        <dd>
          {table.storage_files === null ? UNKNOWN : `at least ${formatCount(table.storage_files)}`}
        </dd>
        <dt>Delete files per data file</dt>
        <dd>
          {table.delete_file_ratio === null
            ? UNKNOWN
            : Number(table.delete_file_ratio.toPrecision(2))}
          {table.oldest_delete_at !== null && (
            <span className="dim">
              , the oldest at least from <TimeAgo time={table.oldest_delete_at} />
            </span>
          )}
        </dd>
        <dt>Largest partition</dt>
        <dd>
          {table.partition_skew === null
            ? UNKNOWN
            : `${Number(table.partition_skew.toPrecision(2))}× the mean`}
        </dd>
        <dt>Excess manifests</dt>
        <dd>{formatCount(table.manifest_excess)}</dd>
        <dt>Snapshots retained by</dt>
        <dd>
          <Holds table={table} />
        </dd>
        {table.metadata_files !== null && (
          <>
            <dt>metadata.json files</dt>
            <dd>{formatCount(table.metadata_files)}</dd>
          </>
        )}
        {table.disagreements.length > 0 && (
          <>
            <dt>Contradictions in the metadata</dt>
            <dd>
              {table.disagreements.map((found) => (
                <div key={`${found.source}/${found.figure}`}>
                  {found.source}: {formatCount(found.claimed)} {found.figure}, counted{" "}
                  {formatCount(found.counted)}
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
    </Panel>
  );
}
