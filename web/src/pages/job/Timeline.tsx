import type { StreamState } from "../../api/events";
import type { JobEvent } from "../../api/types";
import { Empty } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { formatCount } from "../../lib/format";
import { formatClock, formatExact } from "../../lib/time";
import { humanize, STREAM_WORDS } from "../../lib/words";

/** Of consecutive progress events only the last is listed. */
export function foldProgress(events: JobEvent[]): JobEvent[] {
  return events.filter(
    (event, index) => !(event.name.endsWith(".progress") && events[index + 1]?.name === event.name),
  );
}

/** The page shows the statement above. */
const HIDDEN_FIELDS = ["statement"];

function writeField(name: string, value: unknown): string {
  if (typeof value === "number") return name.endsWith("id") ? String(value) : formatCount(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Fields({ fields }: { fields: JobEvent["fields"] }) {
  const shown = Object.entries(fields)
    .flatMap(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(value)
        : [[name, value] as const],
    )
    .filter(([name, value]) => value !== null && value !== "" && !HIDDEN_FIELDS.includes(name));
  if (shown.length === 0) return null;
  return (
    <span className="fields">
      {shown.map(([name, value]) => (
        <span key={name}>
          <span className="dim">{humanize(name)}:</span>{" "}
          <span className="field-value">{writeField(name, value)}</span>
        </span>
      ))}
    </span>
  );
}

/** The job's events as they happen. */
export function Timeline({ events, stream }: { events: JobEvent[]; stream: StreamState }) {
  return (
    <Panel
      title="Activity"
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
                {humanize(event.name)}
                <Fields fields={event.fields} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
