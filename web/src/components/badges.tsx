import { Link } from "@tanstack/react-router";
import type { Band, JobState, TableState, TableStatus, TableSummary } from "../api/types";
import { formatCount } from "../lib/format";
import {
  BAND_WORDS,
  STATE_WORDS,
  TABLE_STATE_TONES,
  TABLE_STATE_WORDS,
  TABLE_STATES,
} from "../lib/words";

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

/** The one state of a table, with the daemon's sentence in its title. */
export function StatusBadge({ status, large = false }: { status: TableStatus; large?: boolean }) {
  const size = large ? " badge-large" : "";
  return (
    <span
      className={`badge badge-${TABLE_STATE_TONES[status.state]}${size}`}
      title={status.sentence}
    >
      {TABLE_STATE_WORDS[status.state]}
    </span>
  );
}

/** A table's one state, and how bad it is where something can be done about it. */
export function TableBadges({ table, large = false }: { table: TableSummary; large?: boolean }) {
  const { band, status } = table;
  const size = large ? " badge-large" : "";
  if (!status) return <span className={`badge${size}`}>Not measured</span>;
  const tone = TABLE_STATE_TONES[status.state];
  const isPlain = tone === "critical" || tone === "neutral" || tone === "healthy";
  return (
    <span className="row">
      <StatusBadge status={status} large={large} />
      {!isPlain && band && band !== "healthy" && (
        <span className="dim">{BAND_WORDS[band].toLowerCase()}</span>
      )}
    </span>
  );
}

interface StateCountsProps {
  states: Partial<Record<TableState, number>>;
  /** Where these tables are. */
  place?: { catalog?: string; namespace?: string };
}

/** The tables by state as a bar and in words; each state leads to its tables. */
export function StateCounts({ states, place = {} }: StateCountsProps) {
  const filled = TABLE_STATES.filter((state) => (states[state] ?? 0) > 0).reverse();
  return (
    <>
      <div className="band-bar" aria-hidden>
        {filled.map((state) => (
          <span
            key={state}
            style={{ flexGrow: states[state], background: `var(--${TABLE_STATE_TONES[state]})` }}
          />
        ))}
      </div>
      <ul className="legend">
        {filled.map((state) => (
          <li key={state}>
            <Link to="/tables" search={{ ...place, state }}>
              <span
                className="swatch"
                style={{ background: `var(--${TABLE_STATE_TONES[state]})` }}
              />
              {TABLE_STATE_WORDS[state]} {formatCount(states[state])}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
