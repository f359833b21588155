import type { Cost, Score } from "../api/types";
import { formatDuration, formatSignificant, pluralize } from "../lib/format";
import { BASIS_WORDS, humanize } from "../lib/words";

/** What an action would take and how it ranks, term by term; closed until somebody asks. */
export function Weights({ cost, score }: { cost: Cost | null; score: Score | null }) {
  if (!cost && !score) return null;
  return (
    <details>
      <summary>Cost and priority</summary>
      <dl className="description">
        {cost && (
          <>
            <dt>Expected time</dt>
            <dd>
              {formatDuration(cost.duration_seconds)} <span className="dim">of Spark’s work</span>
            </dd>
            <dt>Expected cost</dt>
            <dd>
              {formatSignificant(cost.gb_hours)} GB-hours{" "}
              <span className="dim">
                (budgets are charged {formatSignificant(cost.gb_hours_p90)} until it is done)
              </span>
            </dd>
            <dt>Learnt from</dt>
            <dd>
              {BASIS_WORDS[cost.basis]}
              {cost.samples > 0 && <span className="dim">, {pluralize(cost.samples, "job")}</span>}
            </dd>
          </>
        )}
        {score && (
          <>
            <dt>Priority</dt>
            <dd>
              {score.sentence || formatSignificant(score.value)}{" "}
              <span className="dim">(by {score.scorer})</span>
            </dd>
            {score.terms.map((term) => (
              <div key={term.name} className="pair">
                <dt>{humanize(term.name)}</dt>
                <dd>{formatSignificant(term.value)}</dd>
              </div>
            ))}
          </>
        )}
      </dl>
    </details>
  );
}
