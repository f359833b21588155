import { SegmentedControl } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { jobsQuery } from "../../../api/queries";
import type { Measurement, TableDetail } from "../../../api/types";
import { Chart } from "../../../components/Chart";
import { Grid } from "../../../components/Grid";
import { Empty } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { formatBytes, formatCount } from "../../../lib/format";
import { labelBin } from "../../../lib/histogram";
import {
  drawHistogram,
  findClasses,
  type SizeClass,
  type SizeMeasure,
} from "../../../lib/histogramChart";
import type { Palette } from "../../../lib/palette";

/** Iceberg's planner selects files under this share of the target size. */
const SMALL_FILE_RATIO = 0.75;

function describe(classes: SizeClass[], measure: SizeMeasure): string {
  const format = measure === "bytes" ? formatBytes : formatCount;
  return classes.map((each) => `${labelBin(each.bin)}: ${format(each[measure])}`).join("; ");
}

/** The table before the last job that removed data files. */
function useBefore(table: string): Measurement | null {
  const jobs = useInfiniteQuery(jobsQuery({ table, state: undefined })).data?.pages[0]?.items;
  return jobs?.find((job) => (job.effect?.files_removed ?? 0) > 0)?.effect?.before ?? null;
}

/** The data files by size, and which count as small. */
export function SizeHistogram({ table }: { table: TableDetail }) {
  const { histogram, target_file_size_bytes: target } = table;
  const [measure, setMeasure] = useState<SizeMeasure>("files");
  const before = useBefore(table.table);
  const smallBelow = target === null ? null : Math.floor(target * SMALL_FILE_RATIO);
  const classes = useMemo(
    () => findClasses(histogram, before, target),
    [histogram, before, target],
  );
  const option = useCallback(
    (palette: Palette) => drawHistogram(classes, measure, target, smallBelow, palette),
    [classes, measure, target, smallBelow],
  );
  if (!histogram.some((bin) => bin.files > 0))
    return (
      <Panel title="Data files by size">
        <Empty title="No data files to show" />
      </Panel>
    );
  return (
    <Panel
      title="Data files by size"
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Bars count"
          data={[
            { value: "files", label: "Files" },
            {
              value: "bytes",
              label: "Bytes",
              disabled: histogram.some((bin) => bin.bytes === null),
            },
          ]}
          value={measure}
          onChange={(value) => setMeasure(value === "bytes" ? "bytes" : "files")}
        />
      }
    >
      <Chart label={`Data files by size: ${describe(classes, measure)}`} option={option} />
      <ul className="legend">
        <LegendItem color="var(--degraded)">
          small{smallBelow !== null && `: under ${formatBytes(smallBelow)}`}
        </LegendItem>
        <LegendItem color="var(--watch)">around the limit</LegendItem>
        <LegendItem color="var(--healthy)">large enough</LegendItem>
        {classes.some((each) => each.before) && <LegendItem>before the last rewrite</LegendItem>}
      </ul>
      <Classes classes={classes} />
    </Panel>
  );
}

/** The chart's figures, for those who cannot see it. */
function Classes({ classes }: { classes: SizeClass[] }) {
  const hasBefore = classes.some((each) => each.before);
  return (
    <details>
      <summary>Show as a table</summary>
      <Grid
        label="Data files by size, figures"
        headings={[
          "Size",
          { figures: "Files" },
          { figures: "Bytes" },
          ...(hasBefore ? [{ figures: "Files before" }, { figures: "Bytes before" }] : []),
        ]}
      >
        {classes.map((each) => (
          <tr key={each.bin.from_bytes}>
            <th scope="row">{labelBin(each.bin)}</th>
            <td className="num">{formatCount(each.files)}</td>
            <td className="num">{formatBytes(each.bytes)}</td>
            {hasBefore && (
              <>
                <td className="num">{formatCount(each.before?.files)}</td>
                <td className="num">{formatBytes(each.before?.bytes)}</td>
              </>
            )}
          </tr>
        ))}
      </Grid>
    </details>
  );
}

/** Without a colour: the dashed outline. */
function LegendItem({ color, children }: { color?: string; children: React.ReactNode }) {
  return (
    <li>
      <span className="legend-item">
        <span
          className="swatch"
          style={color ? { background: color } : { border: "1px dashed var(--dim)" }}
        />
        {children}
      </span>
    </li>
  );
}
