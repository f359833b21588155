import type { Band, JobState, TableSummary } from "../api/types";
import { formatExact } from "../lib/time";
import { BAND_WORDS, FAULT_WORDS, STATE_WORDS } from "../lib/words";

const STATE_TONES: Record<JobState, string> = {
  pending: "",
  submitted: "badge-info",
  running: "badge-info",
  succeeded: "badge-healthy",
  failed: "badge-critical",
  cancelled: "",
  unknown: "badge-degraded",
};

export function BandBadge({ band, large = false }: { band: Band; large?: boolean }) {
  return (
    <span className={`badge badge-${band}${large ? " badge-large" : ""}`}>{BAND_WORDS[band]}</span>
  );
}

export function StateBadge({ state, large = false }: { state: JobState; large?: boolean }) {
  return (
    <span className={`badge ${STATE_TONES[state]}${large ? " badge-large" : ""}`}>
      {STATE_WORDS[state]}
    </span>
  );
}

/** A table's band; a table that cannot be measured shows its fault instead. */
export function TableBadges({ table, large = false }: { table: TableSummary; large?: boolean }) {
  const { band, fault, pause } = table;
  const why = pause?.reason ? `: ${pause.reason}` : "";
  return (
    <span className="row">
      {fault ? (
        <span className={`badge badge-critical${large ? " badge-large" : ""}`}>
          {FAULT_WORDS[fault.kind]}
        </span>
      ) : band ? (
        <BandBadge band={band} large={large} />
      ) : (
        <span className={`badge${large ? " badge-large" : ""}`}>Not measured</span>
      )}
      {pause && (
        <span
          className={`badge badge-info${large ? " badge-large" : ""}`}
          title={`By ${pause.by}, ${formatExact(pause.at)}${why}`}
        >
          Paused
        </span>
      )}
    </span>
  );
}
