import type { Cost, Score } from "../api/types";
import { formatDuration, formatSignificant, pluralize } from "../lib/format";
import { BASIS_WORDS, humanize } from "../lib/words";

/** An action's predicted cost and its score, term by term; collapsed at first. */
export function Weights({ cost, score }: { cost: Cost | null; score: Score | null }) {
  if (!cost && !score) return null;
  return (
    <details>
      <summary>Cost and score</summary>
      <dl className="description">
        {cost && (
          <>
            <dt>Predicted time</dt>
            <dd>
              {formatDuration(cost.duration_seconds)} <span className="dim">on Spark</span>
            </dd>
            <dt>Predicted cost</dt>
            <dd>
              {formatSignificant(cost.gb_hours)} GB-hours{" "}
              <span className="dim">
                (charged to budgets until it ends: {formatSignificant(cost.gb_hours_p90)})
              </span>
            </dd>
            <dt>Based on</dt>
            <dd>
              {BASIS_WORDS[cost.basis]}
              {cost.samples > 0 && <span className="dim">, {pluralize(cost.samples, "job")}</span>}
            </dd>
          </>
        )}
        {score && (
          <>
            <dt>Score</dt>
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
