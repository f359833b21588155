import type { ReportLine, SmallFilesReport } from "../../api/types";
import { Tile } from "../../components/Panel";
import {
  formatBytes,
  formatCount,
  formatRatio,
  formatSignificant,
  pluralize,
} from "../../lib/format";
import { PROFILE_WORDS } from "../../lib/words";
import { saySlowdown, sayWait } from "./ReportGrid";

/** All tables of the report at a glance. */
export function ReportTiles({ report, total }: { report: SmallFilesReport; total: ReportLine }) {
  const [one, many] = total.round_trips;
  return (
    <dl className="tiles">
      {total.small.map(({ below_bytes, share, files }) => (
        <Tile
          key={below_bytes}
          label={`Files under ${formatBytes(below_bytes)}`}
          value={formatRatio(share)}
        >
          {formatCount(files)} of {pluralize(total.files, "file")}
        </Tile>
      ))}
      <Tile label="Query time" value={saySlowdown(total)}>
        of that with large files on {report.storages.map((one) => PROFILE_WORDS[one]).join(", ")}
      </Tile>
      <Tile label="Requests a day" value={formatCount(Math.round(total.requests_per_day))}>
        {formatCount(Math.round(total.requests_saved_per_day))} avoidable
      </Tile>
      {total.cost_per_day !== null && (
        <Tile label="Cost of requests a day" value={formatSignificant(total.cost_per_day)}>
          {formatSignificant(total.cost_saved_per_day ?? 0)} avoidable
        </Tile>
      )}
      {one && many && (
        <Tile label="Round trips" value={sayWait(one.seconds)}>
          one after the other; {sayWait(many.seconds)} with {many.parallel} in parallel
        </Tile>
      )}
    </dl>
  );
}
