import { Fragment } from "react";
import type { TableDetail } from "../../../api/types";
import { Empty } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatFactor,
  formatSignificant,
} from "../../../lib/format";
import { PROFILE_WORDS } from "../../../lib/words";

type Impact = NonNullable<TableDetail["impact"]>;

function Slowdown({ impact }: { impact: Impact }) {
  const { slowdown_low: low, slowdown_high: high } = impact;
  return (
    <>
      <dt>A full read takes</dt>
      <dd>
        {formatFactor(low)}
        {formatFactor(low) !== formatFactor(high) && <> to {formatFactor(high)}</>}{" "}
        <span className="dim">of the time with 130 MB files</span>
        {impact.is_beyond_measured && (
          <div className="dim">
            Smaller files than these were not measured: the real cost may be higher.
          </div>
        )}
      </dd>
    </>
  );
}

/** The costs that the operator gave a price for. */
function Costs({ impact }: { impact: Impact }) {
  const costs: [string, number | null][] = [
    ["Cost of requests per full read", impact.request_cost_per_scan],
    ["Cost of writing these files", impact.write_cost],
    ["Cost of listing all files", impact.list_cost],
    ["Cost of a month’s storage", impact.storage_cost_per_month],
  ];
  return costs.map(
    ([title, cost]) =>
      cost !== null && (
        <Fragment key={title}>
          <dt>{title}</dt>
          <dd>{formatSignificant(cost)}</dd>
        </Fragment>
      ),
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
            <dt>Requests per full read</dt>
            <dd>
              at least {formatCount(impact.requests_per_scan)}{" "}
              <span className="dim">
                ({formatCount(impact.requests_after_compaction)} after compaction
                {impact.requests_at_target < impact.requests_after_compaction && (
                  <>
                    , {formatCount(impact.requests_at_target)} with other partitions and files of
                    the target size
                  </>
                )}
                )
              </span>
            </dd>
            <dt>Time of a full read</dt>
            <dd>
              {formatDuration(impact.scan_seconds)}{" "}
              <span className="dim">
                ({formatDuration(impact.scan_seconds_at_target)} with files of the target size), of
                which {formatDuration(impact.round_trip_seconds)} are round trips
              </span>
            </dd>
            <Costs impact={impact} />
            {impact.name_node !== null && (
              <>
                <dt>Name node</dt>
                <dd>
                  at least {formatCount(impact.name_node.objects)} objects,{" "}
                  {formatBytes(impact.name_node.heap_bytes)} of heap{" "}
                  <span className="dim">
                    ({formatBytes(impact.name_node.heap_bytes_with_snapshots)} with HDFS snapshots)
                  </span>
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
          <p className="dim">{impact.storage.sentence}</p>
          <p className="dim">{impact.source}</p>
        </div>
      )}
    </Panel>
  );
}
