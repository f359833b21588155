import { Button } from "@mantine/core";
import { useState } from "react";
import type { QueryComparison, TableDetail, TablePath } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Empty } from "../../components/notices";
import { Panel } from "../../components/Panel";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatFactor,
  formatSignificant,
} from "../../lib/format";
import { PROFILE_WORDS } from "../../lib/words";
import { MeasurementDialog } from "./MeasurementDialog";

type Impact = NonNullable<TableDetail["impact"]>;

function Slowdown({ impact }: { impact: Impact }) {
  const {
    slowdown_low: low,
    slowdown_high: high,
    comparisons,
    reference_file_size_bytes: reference,
  } = impact;
  const isOwn = comparisons.length > 0;
  return (
    <>
      <dt>{isOwn ? "Your queries take" : "Full scans take"}</dt>
      <dd>
        {formatFactor(low)}
        {formatFactor(low) !== formatFactor(high) && <> to {formatFactor(high)}</>}{" "}
        <span className="dim">
          of the time with {isOwn ? formatBytes(reference) : "130 MB"} files
        </span>
        {impact.is_beyond_measured && (
          <div className="dim">Smaller files than these were not measured: it may be worse.</div>
        )}
      </dd>
    </>
  );
}

function Comparisons({ comparisons }: { comparisons: QueryComparison[] }) {
  const hasCosts = comparisons.some(
    (found) => found.small_cost !== null && found.large_cost !== null,
  );
  return (
    <Grid
      label="Your queries, figures"
      caption="Your queries with small and with large files"
      headings={[
        "Query",
        { figures: "Small files" },
        { figures: "Large files" },
        ...(hasCosts ? [{ figures: "Cost" }] : []),
        { figures: "Now" },
      ]}
    >
      {comparisons.map((found) => (
        <tr key={found.name}>
          <th scope="row" title={`${formatCount(found.runs)} runs`}>
            {found.name}
          </th>
          <td
            className="num"
            title={`files of ${formatBytes(found.small_average_bytes)} on average`}
          >
            {formatDuration(found.small_seconds)}
          </td>
          <td
            className="num"
            title={`files of ${formatBytes(found.large_average_bytes)} on average`}
          >
            {formatDuration(found.large_seconds)}
          </td>
          {hasCosts && (
            <td className="num">
              {found.small_cost !== null && found.large_cost !== null
                ? `${formatSignificant(found.small_cost)} → ${formatSignificant(found.large_cost)}`
                : ""}
            </td>
          )}
          <td className="num">{formatFactor(found.slowdown)}</td>
        </tr>
      ))}
    </Grid>
  );
}

/** The cost of the table's files: the users' own timings, else a published range. */
export function ImpactPanel({ table, path }: { table: TableDetail; path: TablePath }) {
  const { impact } = table;
  const [isOpen, setOpen] = useState(false);
  const isOwn = impact !== null && impact.comparisons.length > 0;
  return (
    <Panel
      title={isOwn ? "Impact (measured by you)" : "Impact (estimate)"}
      aside={
        <div className="row">
          {impact && <span className="dim">{PROFILE_WORDS[impact.profile]}</span>}
          <Button onClick={() => setOpen(true)}>Add a measurement…</Button>
        </div>
      }
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
          {isOwn && <Comparisons comparisons={impact.comparisons} />}
          {table.partition_advice && (
            <p>
              Maintenance does not change this: the partitions are too fine. See “What would help?”
              above.
            </p>
          )}
          <p className="dim">{impact.source}</p>
        </div>
      )}
      <MeasurementDialog path={path} isOpen={isOpen} onClose={() => setOpen(false)} />
    </Panel>
  );
}
