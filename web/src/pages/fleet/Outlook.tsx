import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queueQuery, worstTablesQuery } from "../../api/fleet";
import { inboxQuery } from "../../api/inbox";
import type { Queue, Queued, TableSummary } from "../../api/types";
import { TableBadges } from "../../components/badges";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { TableLink } from "../../components/TableLink";
import { HowLong } from "../../components/TimeAgo";
import { formatCount, formatDuration } from "../../lib/format";
import { RULE_WORDS } from "../../lib/words";

/** Number of planned actions by state, in one line. */
export function sayQueue(queue: Queue): string {
  const waiting = queue.total - queue.starting;
  if (queue.total === 0) return "nothing is planned";
  const counts = { planned: queue.total, starting: queue.starting, waiting };
  return Object.entries(counts)
    .map(([state, count]) => `${formatCount(count)} ${state}`)
    .join(", ");
}

function QueuedEntry({ queued }: { queued: Queued }) {
  const { admission } = queued;
  return (
    <li className="stack-tight">
      <div className="row">
        <span className={admission.is_admitted ? "badge badge-info" : "badge"}>
          {admission.is_admitted ? "Starts" : "Waits"}
        </span>
        <TableLink name={queued.table} />
        <span className="dim">
          {RULE_WORDS[queued.rule]}, about {formatDuration(queued.cost.duration_seconds)}
        </span>
      </div>
      {!admission.is_admitted && <p className="dim">{admission.sentence}</p>}
    </li>
  );
}

export function QueueList({ queue }: { queue: Queue }) {
  if (queue.items.length === 0)
    return <Empty title="Nothing is planned">Planned maintenance appears here.</Empty>;
  return (
    <ol className="outlook">
      {queue.items.map((queued) => (
        <QueuedEntry key={queued.table + queued.rule} queued={queued} />
      ))}
    </ol>
  );
}

export function WorstList({ tables }: { tables: TableSummary[] }) {
  const worst = tables.filter(
    ({ status }) => status && status.state !== "healthy" && status.state !== "small_by_nature",
  );
  if (worst.length === 0) return <Empty title="No table can be improved" />;
  return (
    <ol className="outlook">
      {worst.map((table) => (
        <li key={table.table} className="stack-tight">
          <div className="row">
            <TableBadges table={table} />
            <TableLink name={table.table} />
            {table.band_since && (
              <span className="dim">
                for <HowLong since={table.band_since} />
              </span>
            )}
          </div>
          <p className="dim">{table.status?.sentence}</p>
        </li>
      ))}
    </ol>
  );
}

/** The worst tables and the queue. */
export function Outlook() {
  const worst = useQuery(worstTablesQuery);
  const queue = useQuery(queueQuery);
  const observed = useQuery(inboxQuery).data?.items.find(({ kind }) => kind === "observed");
  return (
    <div className="columns">
      <Panel title="Worst tables">
        <Loaded query={worst} label="the worst tables">
          {({ items }) => <WorstList tables={items} />}
        </Loaded>
      </Panel>
      <Panel
        title="What happens next"
        aside={queue.data && <span className="dim">{sayQueue(queue.data)}</span>}
      >
        <div className="stack">
          <Loaded query={queue} label="the queue">
            {(data) => <QueueList queue={data} />}
          </Loaded>
          {observed && (
            <div className="row">
              <span className="badge badge-info">Only observed</span>
              <span>{observed.sentence}</span>
              <Link to="/policies">Show the policies</Link>
            </div>
          )}
        </div>
      </Panel>
    </div>
  );
}
