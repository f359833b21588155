import type { StreamState } from "../../api/events";
import type { JobEvent } from "../../api/types";
import { EventFields } from "../../components/EventFields";
import { Empty } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { formatClock, formatExact } from "../../lib/time";
import { sayEvent } from "../../lib/eventWords";
import { STREAM_WORDS } from "../../lib/words";

/** Of consecutive progress events only the last is listed. */
export function foldProgress(events: JobEvent[]): JobEvent[] {
  return events.filter(
    (event, index) => !(event.name.endsWith(".progress") && events[index + 1]?.name === event.name),
  );
}

/** The fields of an event, for those who look for a fault; nothing when it has none. */
function Internals({ event }: { event: JobEvent }) {
  if (Object.keys(event.fields).length === 0) return null;
  return (
    <details className="internals">
      <summary>Details</summary>
      <EventFields fields={{ event: event.name, ...event.fields }} />
    </details>
  );
}

/** The job's events as they happen. */
export function Timeline({
  events,
  stream,
  fold,
}: {
  events: JobEvent[];
  stream: StreamState;
  fold?: "closed" | "open";
}) {
  return (
    <Panel
      title="Activity"
      fold={fold}
      aside={
        <span className="dim" aria-live="polite">
          {STREAM_WORDS[stream]}
        </span>
      }
    >
      {events.length === 0 ? (
        <Empty title="Nothing has happened yet" />
      ) : (
        <ol className="timeline">
          {foldProgress(events).map((event) => (
            <li key={event.sequence}>
              <time className="num dim" dateTime={event.at} title={formatExact(event.at)}>
                {formatClock(event.at)}
              </time>
              <div>
                {sayEvent(event.name, event.fields)}
                <Internals event={event} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
