import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queueQuery } from "../../api/fleet";
import { recentJobsQuery } from "../../api/queries";
import { statusQuery } from "../../api/status";
import { Empty, Loading } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { layOutDay, placeOf, REACH_MS, type DayBar, type DayRow } from "../../lib/dayLine";
import { locateTable } from "../../lib/identifier";
import { useNow } from "../../lib/now";
import { formatTime } from "../../lib/time";

const ROWS_HEIGHT = 200;
const TICK_MS = 2 * 3_600_000;

/** Full hours of the day at which the axis has a mark. */
function findTicks(now: number): number[] {
  const first = Math.ceil((now - REACH_MS) / TICK_MS) * TICK_MS;
  return Array.from({ length: 6 }, (_, index) => first + index * TICK_MS);
}

function Bar({ bar, table }: { bar: DayBar; table: string }) {
  const style = { left: `${bar.left}%`, width: `${bar.width}%` };
  const words = `${table}: ${bar.words}`;
  return bar.job === null ? (
    <span
      className={`day-bar day-${bar.kind}`}
      style={style}
      title={words}
      role="img"
      aria-label={words}
    />
  ) : (
    <Link
      to="/jobs/$id"
      params={{ id: bar.job }}
      className={`day-bar day-${bar.kind}`}
      style={style}
      title={words}
      aria-label={words}
    />
  );
}

/** The rows over an axis of time whose middle is now. */
export function DayRows({ rows, now }: { rows: DayRow[]; now: number }) {
  if (rows.length === 0)
    return (
      <Empty title="No job ran in the last 6 hours">Nothing is planned for the next 6 hours.</Empty>
    );
  return (
    <div className="day">
      <ol className="day-rows">
        {rows.map(({ table, bars }) => (
          <li key={table} className="day-row">
            <TableName table={table} />
            <span className="day-track">
              {bars.map((bar) => (
                <Bar key={`${bar.job ?? "ahead"} ${bar.left}`} bar={bar} table={table} />
              ))}
            </span>
          </li>
        ))}
      </ol>
      <div className="day-axis dim" aria-hidden>
        <span />
        <span className="day-track">
          {findTicks(now).map((tick) => (
            <span key={tick} className="day-tick" style={{ left: `${placeOf(tick, now)}%` }}>
              {formatTime(new Date(tick).toISOString())}
            </span>
          ))}
        </span>
      </div>
    </div>
  );
}

function TableName({ table }: { table: string }) {
  const path = locateTable(table);
  if (!path) return <span className="one-line">{table}</span>;
  return (
    <Link
      to="/tables/$catalog/$namespace/$table"
      params={{ ...path }}
      className="one-line"
      title={table}
    >
      {path.table}
    </Link>
  );
}

/** The jobs of the last six hours, and what is known of the next six. */
export function DayLine() {
  const now = useNow();
  const jobs = useQuery(recentJobsQuery).data?.items;
  const queue = useQuery(queueQuery).data;
  const statuses = useQuery(statusQuery).data?.items;
  return (
    <Panel
      title="Six hours back, six ahead"
      aside={
        <ul className="legend" aria-label="Colours">
          {(["succeeded", "failed", "running", "planned", "waiting"] as const).map((kind) => (
            <li key={kind} className="legend-item">
              <span className={`swatch day-${kind}`} /> {WORDS[kind]}
            </li>
          ))}
        </ul>
      }
    >
      {jobs ? (
        <DayRows rows={layOutDay(jobs, queue, statuses ?? [], now)} now={now} />
      ) : (
        <Loading label="the jobs" height={ROWS_HEIGHT} />
      )}
    </Panel>
  );
}

const WORDS: Record<DayBar["kind"], string> = {
  succeeded: "proved",
  failed: "failed",
  running: "running",
  planned: "next",
  waiting: "waits until then",
};
