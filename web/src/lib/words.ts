import type { StreamState } from "../api/events";
import type {
  Band,
  Cost,
  EstimateError,
  FailureReason,
  FaultKind,
  JobRule,
  JobState,
  Mode,
  OrphanList,
  RowProof,
  SkipCode,
  Stage,
  StorageProfile,
  TableState,
} from "../api/types";
import { capitalize } from "./format";
import type { HistoryRange } from "./metrics";

export const BANDS: readonly Band[] = ["healthy", "watch", "degraded", "critical"];
export const JOB_STATES: readonly JobState[] = [
  "pending",
  "submitted",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "unknown",
];
const FINAL_STATES: readonly JobState[] = ["succeeded", "failed", "cancelled"];

export function isFinal(state: JobState): boolean {
  return FINAL_STATES.includes(state);
}

export const STREAM_WORDS: Record<StreamState, string> = {
  connecting: "connecting…",
  live: "live",
  ended: "complete",
  broken: "connection lost; reload to see more",
};

export const BAND_WORDS: Record<Band, string> = {
  healthy: "Healthy",
  watch: "Watch",
  degraded: "Degraded",
  critical: "Critical",
};

/** The states of a table, the most urgent first, as the daemon sorts them. */
export const TABLE_STATE_WORDS: Record<TableState, string> = {
  unreadable: "Unreadable",
  damaged: "Damaged",
  paused: "Paused",
  not_covered: "No policy",
  observed: "Observed",
  waiting: "Waiting",
  due: "Due",
  being_maintained: "Being maintained",
  small_by_nature: "Small by nature",
  healthy: "Healthy",
};

export const TABLE_STATES = Object.keys(TABLE_STATE_WORDS) as TableState[];

/** The five colours of states: nothing else on the page decides what is red. */
export type Tone = "critical" | "watch" | "info" | "neutral" | "healthy";

/** Red is broken, yellow stands still until a person acts, blue is in hand, grey cannot be helped. */
export const TABLE_STATE_TONES: Record<TableState, Tone> = {
  unreadable: "critical",
  damaged: "critical",
  paused: "watch",
  not_covered: "watch",
  observed: "watch",
  waiting: "info",
  due: "info",
  being_maintained: "info",
  small_by_nature: "neutral",
  healthy: "healthy",
};

export const RULE_WORDS: Record<JobRule, string> = {
  rewrite_data_files: "Compact data files",
  rewrite_position_delete_files: "Compact position deletes",
  rewrite_manifests: "Rewrite manifests",
  compute_table_stats: "Compute column statistics",
  compute_partition_stats: "Compute partition statistics",
  expire_snapshots: "Expire snapshots",
  remove_orphan_files: "Remove orphan files",
  roll_back: "Roll back",
};

export const JOB_RULES = Object.keys(RULE_WORDS) as JobRule[];

export const QUANTITY_WORDS: Record<EstimateError["quantity"], string> = {
  files_removed: "Files removed",
  delete_files_removed: "Delete files removed",
  manifests_removed: "Manifests removed",
  snapshots_removed: "Snapshots removed",
  bytes_rewritten: "Bytes rewritten",
  gb_hours: "GB-hours",
  duration_seconds: "Duration",
};

export const STATE_WORDS: Record<JobState, string> = {
  pending: "Pending",
  submitted: "Submitted",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
  unknown: "Runner lost",
};

/** The stages of an unfinished job. */
export const STAGE_WORDS: Record<Stage, string> = {
  waiting: "Waiting for a slot",
  starting: "Starting Spark",
  preparing: "Preparing",
  working: "Running on Spark",
  checking: "Checking the result",
  proving: "Proving",
};

export const ORPHAN_STATE_WORDS: Record<OrphanList["state"], string> = {
  refused: "Refused",
  waiting: "Waiting for approval",
  approved: "Approved",
  rejected: "Rejected",
  superseded: "Superseded by a later scan",
  removed: "Removed",
  quarantined: "In quarantine",
  restoring: "Waiting to be restored",
  restored: "Restored",
  emptied: "Deleted after quarantine",
};

export const SKIP_WORDS: Record<SkipCode, string> = {
  below_threshold: "Not needed: the threshold is not reached",
  nothing_to_gain: "Nothing to gain: the rewrite would change nothing",
  cooling_down: "Cooling down after the last run",
  not_measured: "A figure that the decision needs is unknown",
  gc_disabled: "The table sets gc.enabled=false",
  retention_floor: "Below the retention floor",
  unsafe: "Not safe on this table",
  pinned: "A pin protects the snapshots",
  in_flight: "A job is already running on this table",
  outside_window: "Outside the maintenance window",
  over_budget: "Waiting for its budget",
  hot_partition: "A writer has written to the partition lately",
  unsupported: "Not supported for this table yet",
  observe_only: "The policy is in observe mode",
  disabled: "Disabled by the policy",
  paused: "Paused",
  ambiguous_policy: "Policy files disagree about this table",
  not_quiet: "Waiting for a quiet period of other writers",
  other_maintainer: "Another program maintains the table",
  no_runner: "Spark cannot run jobs on this catalog",
};

export const FAULT_WORDS: Record<FaultKind, string> = {
  view: "A view, not a table",
  dropped: "Dropped",
  metadata_missing: "Metadata missing",
  metadata_corrupt: "Unreadable metadata",
  catalog_unavailable: "Catalog unavailable",
  access_denied: "Access denied",
  unsupported: "Not supported",
  failed: "Could not be measured",
};

export const FAILURE_WORDS: Record<FailureReason, string> = {
  conflict: "A writer committed first",
  out_of_memory: "Spark ran out of memory",
  missing_file: "A file of the table is missing",
  permission: "Permission denied",
  catalog_unreachable: "The catalog could not be reached",
  invalid_request: "Iceberg or Spark refused the statement",
  table_changed: "The table was dropped or replaced during the job",
  lost_runner: "Spark was lost",
  runner_unavailable: "Spark could not start, or could not work",
  timeout: "It took longer than allowed",
  unproved: "Spark reported success, but the table's metadata does not prove it",
  other: "Other",
};

export const ROW_PROOF_WORDS: Record<RowProof, string> = {
  equal: "Rows unchanged: each of our snapshots has exactly as many records as its parent.",
  counted:
    "Rows unchanged: deletes were applied, and the live rows counted before and after are equal.",
  bounded:
    "Rows consistent: deletes were applied, and the difference is within the number of deletes.",
  not_needed: "No proof needed: this action writes no rows.",
  different: "Rows differ: some are missing or added. The job counts as failed.",
  unknown: "Rows not proved: a snapshot or its summary is gone.",
};

export const RANGE_WORDS: Record<HistoryRange, string> = {
  "1h": "In the last hour",
  "24h": "In the last 24 hours",
  "7d": "In the last 7 days",
  "30d": "In the last 30 days",
};

export const PROFILE_WORDS: Record<StorageProfile, string> = {
  object_store: "object store",
  hdfs: "HDFS",
  ozone: "Ozone",
};

export const STORAGES = Object.keys(PROFILE_WORDS) as StorageProfile[];

/** The finished jobs that a predicted cost is based on. */
export const BASIS_WORDS: Record<Cost["basis"], string> = {
  table: "jobs of this table",
  catalog: "jobs of its catalog",
  default: "published figures",
};

export const MODE_WORDS: Record<Mode, string> = {
  observe: "Observe: plans are shown, nothing starts",
  enforce: "Enforce: plans are carried out",
};

/** A dotted or underscored name as words: "spark.progress" -> "Spark progress". */
export function humanize(name: string): string {
  return capitalize(name.replace(/[._]+/g, " ").trim());
}
