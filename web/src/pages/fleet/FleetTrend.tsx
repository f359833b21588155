import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { fleetHistoryQuery } from "../../api/fleet";
import { findPlace, useSession } from "../../api/session";
import type { FleetHistory, FleetSample } from "../../api/types";
import { Chart } from "../../components/Chart";
import { Grid } from "../../components/Grid";
import { MetricSelect } from "../../components/MetricSelect";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { RangeSwitch } from "../../components/RangeSwitch";
import type { FleetAddress } from "../../lib/addresses";
import { drawFleet } from "../../lib/fleetCharts";
import { pluralize } from "../../lib/format";
import { FLEET_METRICS, type FleetMetric } from "../../lib/metrics";
import type { Palette } from "../../lib/palette";
import { formatExact } from "../../lib/time";
import { BAND_WORDS, BANDS } from "../../lib/words";

const CHART_HEIGHT = 272;
const ROWS = 20;

/** One sample's value, or its tables by band, in words. */
function sayValue(sample: FleetSample, metric: FleetMetric): string {
  const { format } = FLEET_METRICS[metric];
  if (metric !== "bands") return format(sample[metric]);
  return BANDS.map((band) => `${format(sample.bands[band] ?? 0)} ${BAND_WORDS[band].toLowerCase()}`)
    .reverse()
    .join(", ");
}

function describe({ samples }: FleetHistory, metric: FleetMetric): string {
  const ends = [samples[0], samples.at(-1)].flatMap((sample) => sample ?? []);
  const said = ends.map((sample) => `${sayValue(sample, metric)} at ${formatExact(sample.at)}`);
  const { label } = FLEET_METRICS[metric];
  return `${label}: ${said.join(", ")}; ${pluralize(samples.length, "sample")}`;
}

/** The colours of the bands; a band is not the state that the tiles count. */
function BandLegend() {
  return (
    <>
      <ul className="legend" aria-label="Colours">
        {BANDS.map((band) => (
          <li key={band} className="legend-item">
            <span className="swatch" style={{ background: `var(--${band})` }} />
            {BAND_WORDS[band].toLowerCase()}
          </li>
        ))}
      </ul>
      <p className="dim">
        A band grades a table&apos;s files. A table that is small by nature, paused or observed has
        a band too.
      </p>
    </>
  );
}

/** The newest values of the chart, for those who cannot see it. */
function Values({ history, metric }: { history: FleetHistory; metric: FleetMetric }) {
  const { label } = FLEET_METRICS[metric];
  return (
    <details>
      <summary>Show as a table</summary>
      <Grid label={`${label} over time`} headings={["Since", { figures: label }]}>
        {history.samples
          .slice(-ROWS)
          .reverse()
          .map((sample) => (
            <tr key={sample.at}>
              <th scope="row">{formatExact(sample.at)}</th>
              <td className="num">{sayValue(sample, metric)}</td>
            </tr>
          ))}
      </Grid>
    </details>
  );
}

export function Trend({ history, metric }: { history: FleetHistory; metric: FleetMetric }) {
  const option = useCallback(
    (palette: Palette) => drawFleet(history, metric, palette, new Date()),
    [history, metric],
  );
  if (history.samples.length === 0)
    return (
      <Empty title="Nothing was recorded in this time range">
        Each scan records the sums of the fleet. Choose a longer time range.
      </Empty>
    );
  return (
    <>
      <Chart label={describe(history, metric)} option={option} />
      {metric === "bands" && <BandLegend />}
      <Values history={history} metric={metric} />
    </>
  );
}

interface FleetTrendProps {
  address: FleetAddress;
  onChange: (change: FleetAddress) => void;
}

/** One metric of the fleet, of a catalog or of a namespace over time. */
export function FleetTrend({ address, onChange }: FleetTrendProps) {
  const { metric = "bands", range = "7d" } = address;
  const place = findPlace(useSession(), address.catalog, address.namespace);
  const history = useQuery(fleetHistoryQuery(place.catalog, place.namespace, range));
  return (
    <Panel
      title="Over time"
      aside={
        <div className="row">
          <MetricSelect
            metrics={FLEET_METRICS}
            metric={metric}
            onChange={(chosen) => onChange({ metric: chosen })}
          />
          <RangeSwitch range={range} onChange={(chosen) => onChange({ range: chosen })} />
        </div>
      }
    >
      {place.isOther && (
        <Text size="sm" c="dimmed">
          {`You see a part of these tables. This is the history of ${[place.catalog, place.namespace].filter(Boolean).join(".")}.`}
        </Text>
      )}
      <Loaded query={history} label="the history" height={CHART_HEIGHT}>
        {(data) => <Trend history={data} metric={metric} />}
      </Loaded>
    </Panel>
  );
}
