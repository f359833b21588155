import type { Estimate, JobRule } from "../api/types";
import { capitalize, formatBytes, formatCount, pluralize } from "../lib/format";

const ITEMS: Record<JobRule, string> = {
  rewrite_data_files: "data file",
  rewrite_position_delete_files: "position delete file",
  rewrite_manifests: "manifest",
  compute_table_stats: "file of statistics",
  compute_partition_stats: "file of statistics",
  expire_snapshots: "snapshot",
  remove_orphan_files: "orphan file",
  roll_back: "snapshot",
};

/** The estimate of an action, in one line. */
export function EstimateWords({ estimate, rule }: { estimate: Estimate; rule: JobRule }) {
  if (rule === "compute_table_stats" || rule === "compute_partition_stats")
    return (
      <span>
        statistics of the current snapshot
        {estimate.note && <span className="dim"> ({estimate.note})</span>}
      </span>
    );
  if (estimate.items_before === 0)
    return <span>{estimate.note ? capitalize(estimate.note) : "no change"}</span>;
  return (
    <span>
      {pluralize(estimate.items_before, ITEMS[rule])} → {formatCount(estimate.items_after)}
      {estimate.bytes_rewritten > 0 && <>, {formatBytes(estimate.bytes_rewritten)} rewritten</>}
      {estimate.error_bound > 0 && <> (± {formatCount(estimate.error_bound)})</>}
      {estimate.partitions > 0 && <> in {pluralize(estimate.partitions, "partition")}</>}
      {estimate.note && <span className="dim"> ({estimate.note})</span>}
    </span>
  );
}
