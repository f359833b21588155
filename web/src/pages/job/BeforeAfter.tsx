import type { Effect, EstimateError, Measurement } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Panel } from "../../components/Panel";
import { TimeAgo } from "../../components/TimeAgo";
import {
  formatBytes,
  formatCount,
  formatDifference,
  formatDuration,
  formatFactor,
  formatSignificant,
  pluralize,
  UNKNOWN,
} from "../../lib/format";
import { QUANTITY_WORDS, ROW_PROOF_WORDS } from "../../lib/words";

type Format = (value: number | null) => string;
interface Row {
  label: string;
  read: (measurement: Measurement) => number | null;
  format: Format;
}

const ROWS: Row[] = [
  { label: "Average file size", read: (each) => each.average_file_size_bytes, format: formatBytes },
  { label: "Data files", read: (each) => each.data_files, format: formatCount },
  { label: "Data size", read: (each) => each.data_bytes, format: formatBytes },
  { label: "Delete files", read: (each) => each.delete_files, format: formatCount },
  { label: "Manifests", read: (each) => each.manifests, format: formatCount },
  { label: "Snapshots", read: (each) => each.snapshots, format: formatCount },
  { label: "Records in files", read: (each) => each.records, format: formatCount },
];

const PROOF_TONES: Record<Effect["rows"], string> = {
  equal: "healthy",
  counted: "healthy",
  bounded: "watch",
  not_needed: "neutral",
  different: "critical",
  unknown: "watch",
};

const QUANTITY_FORMATS: Partial<Record<EstimateError["quantity"], (value: number) => string>> = {
  bytes_rewritten: formatBytes,
  gb_hours: formatSignificant,
  duration_seconds: formatDuration,
};

function describeError({ estimated, actual, note }: EstimateError): string {
  if (note) return note;
  if (estimated === actual) return "exact";
  return estimated > 0 ? `${formatFactor(actual / estimated)} the estimate` : UNKNOWN;
}

/** The estimate of a job beside its effect. */
function Estimates({ errors }: { errors: EstimateError[] }) {
  return (
    <Grid
      label="Estimate and effect"
      headings={["Figure", { figures: "Estimate" }, { figures: "Actual" }, { figures: "Error" }]}
    >
      {errors.map((error) => {
        const { quantity, estimated, actual } = error;
        const format = QUANTITY_FORMATS[quantity] ?? formatCount;
        return (
          <tr key={quantity}>
            <th scope="row">{QUANTITY_WORDS[quantity]}</th>
            <td className="num">{format(estimated)}</td>
            <td className="num">{format(actual)}</td>
            <td className="num">{describeError(error)}</td>
          </tr>
        );
      })}
    </Grid>
  );
}

/** The live rows before and after, of which the proof speaks. */
export function LiveRows({ effect }: { effect: Effect }) {
  const { rows_before: before, rows_after: after } = effect;
  if (before === null || after === null) return <p>{ROW_PROOF_WORDS[effect.rows]}</p>;
  return (
    <p>
      Live rows: {formatCount(before)} {before === after ? "=" : "→"} {formatCount(after)}
      {before !== after && `, ${formatDifference(before, after, formatCount)}`}
    </p>
  );
}

/** The effect of a job, from the table's own metadata, and the proof of its rows. */
export function BeforeAfter({
  effect,
  errors,
  fold,
}: {
  effect: Effect;
  errors: EstimateError[];
  fold?: "closed" | "open";
}) {
  return (
    <Panel
      title="Before and after"
      fold={fold}
      aside={<span className="dim">{formatDuration(effect.duration_seconds)} on Spark</span>}
    >
      <div className="stack">
        <p>
          <strong>{effect.sentence}</strong>
        </p>
        <Grid
          label="Before and after, figures"
          headings={[
            "Figure",
            { figures: "Before" },
            { figures: "After" },
            { figures: "Difference" },
          ]}
        >
          {effect.rows_before !== null && effect.rows_after !== null && (
            <tr>
              <th scope="row">Live rows</th>
              <td className="num">{formatCount(effect.rows_before)}</td>
              <td className="num">{formatCount(effect.rows_after)}</td>
              <td className="num">
                {formatDifference(effect.rows_before, effect.rows_after, formatCount)}
              </td>
            </tr>
          )}
          {ROWS.map(({ label, read, format }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td className="num">{format(read(effect.before))}</td>
              <td className="num">{format(read(effect.after))}</td>
              <td className="num">
                {formatDifference(read(effect.before), read(effect.after), format)}
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">Measured</th>
            <td className="num">
              <TimeAgo time={effect.before.measured_at} />
            </td>
            <td className="num">
              <TimeAgo time={effect.after.measured_at} />
            </td>
            <td />
          </tr>
        </Grid>
        {errors.length > 0 && <Estimates errors={errors} />}
        <div className={`notice notice-${PROOF_TONES[effect.rows]}`}>
          <span>{ROW_PROOF_WORDS[effect.rows]}</span>
          {effect.rows_before !== null && effect.rows_after !== null && (
            <span className="dim">
              {formatCount(effect.rows_before)} rows before, {formatCount(effect.rows_after)} after.
            </span>
          )}
        </div>
        <p className="dim">
          {pluralize(effect.own_commits, "commit")} of this job,{" "}
          {pluralize(effect.other_commits, "commit")} by others meanwhile
          {effect.other_commits > 0 &&
            "; the differences above include theirs, the effect does not"}
          .{effect.bytes_rewritten > 0 && ` ${formatBytes(effect.bytes_rewritten)} rewritten.`}
        </p>
      </div>
    </Panel>
  );
}
