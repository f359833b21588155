import { useQuery } from "@tanstack/react-query";
import { queueQuery } from "../../api/fleet";
import type { Queue, Queued } from "../../api/types";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { TableLink } from "../../components/TableLink";
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

/** The queue: what starts, in which order, and why the rest waits. */
export function Outlook() {
  const queue = useQuery(queueQuery);
  return (
    <Panel
      title="What happens next"
      aside={queue.data && <span className="dim">{sayQueue(queue.data)}</span>}
    >
      <Loaded query={queue} label="the queue">
        {(data) => <QueueList queue={data} />}
      </Loaded>
    </Panel>
  );
}
