import type { TableDetail } from "../../../api/types";
import { Empty } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { formatBytes, formatCount, formatDuration, formatFactor } from "../../../lib/format";
import { PROFILE_WORDS } from "../../../lib/words";

type Impact = NonNullable<TableDetail["impact"]>;

function Slowdown({ impact }: { impact: Impact }) {
  const { slowdown_low: low, slowdown_high: high } = impact;
  return (
    <>
      <dt>Full scans take</dt>
      <dd>
        {formatFactor(low)}
        {formatFactor(low) !== formatFactor(high) && <> to {formatFactor(high)}</>}{" "}
        <span className="dim">of the time with 130 MB files</span>
        {impact.is_beyond_measured && (
          <div className="dim">Smaller files than these were not measured: it may be worse.</div>
        )}
      </dd>
    </>
  );
}

/** The cost of the table's files: a published range with its source. */
export function ImpactPanel({ table }: { table: TableDetail }) {
  const { impact } = table;
  return (
    <Panel
      title="Impact (estimate)"
      aside={impact && <span className="dim">{PROFILE_WORDS[impact.profile]}</span>}
    >
      {impact === null ? (
        <Empty title="Nothing to estimate: no data file was counted" />
      ) : (
        <div className="stack">
          <dl className="description">
            <Slowdown impact={impact} />
            <dt>Requests per full scan</dt>
            <dd>
              at least {formatCount(impact.requests_per_scan)}{" "}
              <span className="dim">
                ({formatCount(impact.requests_at_target)} with files of the target size)
              </span>
            </dd>
            {impact.request_cost_per_scan !== null && (
              <>
                <dt>Cost of the requests</dt>
                <dd>
                  {Number(impact.request_cost_per_scan.toPrecision(3))} at the configured price
                </dd>
              </>
            )}
            <dt>Round trips</dt>
            <dd>
              {formatDuration(impact.round_trip_seconds)}{" "}
              <span className="dim">one after the other</span>
            </dd>
            {impact.name_node_objects !== null && (
              <>
                <dt>Name node</dt>
                <dd>
                  at least {formatCount(impact.name_node_objects)} objects,{" "}
                  {formatBytes(impact.name_node_heap_bytes)} of heap
                </dd>
              </>
            )}
          </dl>
          {table.partition_advice && (
            <p>
              Maintenance does not change this: the partitions are too fine. See “What would help?”
              in the overview.
            </p>
          )}
          <p className="dim">{impact.source}</p>
        </div>
      )}
    </Panel>
  );
}
