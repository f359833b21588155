import { Link } from "@tanstack/react-router";
import type { Overview } from "../../api/types";
import { Tile } from "../../components/Panel";
import { TimeAgo } from "../../components/TimeAgo";
import { formatBytes, formatCount, formatRatio, pluralize } from "../../lib/format";
import { BAND_WORDS, BANDS } from "../../lib/words";

function BandBar({ overview }: { overview: Overview }) {
  const count = (band: (typeof BANDS)[number]) => overview.bands[band] ?? 0;
  const unmeasured = Math.max(0, overview.tables - overview.measured_tables);
  return (
    <>
      <div className="band-bar" aria-hidden>
        {BANDS.filter((band) => count(band) > 0).map((band) => (
          <span key={band} style={{ flexGrow: count(band), background: `var(--${band})` }} />
        ))}
        {unmeasured > 0 && <span style={{ flexGrow: unmeasured, background: "var(--neutral)" }} />}
      </div>
      <ul className="legend">
        {BANDS.map((band) => (
          <li key={band}>
            <Link to="/tables" search={{ band }}>
              <span className="swatch" style={{ background: `var(--${band})` }} />
              {BAND_WORDS[band]} {formatCount(count(band))}
            </Link>
          </li>
        ))}
        {unmeasured > 0 && (
          <li>
            <span className="legend-item">
              <span className="swatch" style={{ background: "var(--neutral)" }} />
              Not measured {formatCount(unmeasured)}
            </span>
          </li>
        )}
      </ul>
    </>
  );
}

/** The fleet at a glance, and what maintenance has saved. */
export function OverviewTiles({ overview }: { overview: Overview }) {
  const running =
    (overview.jobs.running ?? 0) + (overview.jobs.submitted ?? 0) + (overview.jobs.pending ?? 0);
  const faults = [
    overview.faulty_tables > 0 && `${formatCount(overview.faulty_tables)} with faults`,
    overview.paused_tables > 0 && `${formatCount(overview.paused_tables)} paused`,
  ].filter(Boolean);
  return (
    <dl className="tiles">
      <div className="tile tile-wide">
        <dt>Tables</dt>
        <dd className="tile-value">{formatCount(overview.tables)}</dd>
        <dd>
          <BandBar overview={overview} />
          {faults.join(", ")}
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
      <Tile label="Running jobs" value={<Link to="/jobs">{formatCount(running)}</Link>}>
        last measured <TimeAgo time={overview.last_measured_at} />
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
