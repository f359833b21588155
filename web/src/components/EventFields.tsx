import { formatCount } from "../lib/format";
import { humanize } from "../lib/words";

/** A job's page shows the statement itself. */
const HIDDEN_FIELDS = ["statement"];

const isEmpty = (value: unknown) =>
  value === null || value === "" || (Array.isArray(value) && value.length === 0);

function writeField(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => writeField(name, one)).join("; ");
  if (typeof value === "number") return name.endsWith("id") ? String(value) : formatCount(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The fields of an event or an entry of the log, each with its name. */
export function EventFields({ fields }: { fields: Record<string, unknown> }) {
  const shown = Object.entries(fields)
    .flatMap(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(value)
        : [[name, value] as const],
    )
    .filter(([name, value]) => !isEmpty(value) && !HIDDEN_FIELDS.includes(name));
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
