import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overviewQuery, poolsQuery } from "../api/fleet";
import { statusQuery } from "../api/status";
import type { FleetStatus } from "../api/types";
import { formatCount } from "../lib/format";

type Tone = "healthy" | "neutral" | "watch" | "critical";

/** Red when tables are broken, yellow when something needs a person, grey before a scan. */
export function toneOf(status: FleetStatus): Tone {
  if (status.states.unreadable || status.states.damaged) return "critical";
  if (status.needs_total > 0) return "watch";
  return status.is_well ? "healthy" : "neutral";
}

/** The jobs that run, of the places for jobs of all pools. */
function Running() {
  const jobs = useQuery(overviewQuery).data?.jobs;
  const pools = useQuery(poolsQuery).data;
  if (!jobs || !pools) return null;
  const places = pools.reduce((sum, pool) => sum + pool.max_jobs, 0);
  return (
    <Link to="/jobs">
      Running {formatCount(jobs.running)} of {formatCount(places)}
    </Link>
  );
}

/** The first element of every page: is all well, what runs, what needs a person. */
export function StatusBar() {
  const { data: status } = useQuery(statusQuery);
  if (!status) return null;
  return (
    <section className={`notice notice-${toneOf(status)} status-bar`} aria-label="Status">
      <strong>{status.sentence}</strong>
      <span className="row">
        <Running />
        {status.needs_total > 0 && (
          <Link to="/inbox">Needs a person: {formatCount(status.needs_total)}</Link>
        )}
      </span>
    </section>
  );
}
