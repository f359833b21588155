import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { largestPartitionsQuery } from "../../../api/queries";
import type { Partition, TableDetail, TablePath } from "../../../api/types";
import { BandBadge } from "../../../components/badges";
import { Chart } from "../../../components/Chart";
import { Grid } from "../../../components/Grid";
import { Empty, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { formatBytes, formatCount, pluralize } from "../../../lib/format";
import type { Palette } from "../../../lib/palette";
import { drawPartitions, namePartition, sumRest } from "../../../lib/partitionMap";

interface MapOfPartitionsProps {
  /** The largest partitions. */
  items: Partition[];
  /** Of all partitions. */
  total: number;
  bytes: number | null;
  /** False: where files are small, maintenance cannot help. */
  canImprove?: boolean;
}

/** The map, and its areas as a table. */
export function MapOfPartitions({ items, total, bytes, canImprove = true }: MapOfPartitionsProps) {
  const option = useCallback(
    (palette: Palette) => drawPartitions(items, sumRest(items, total, bytes), palette, canImprove),
    [items, total, bytes, canImprove],
  );
  if (items.length === 0) return <Empty title="No partition contains files" />;
  const rest = sumRest(items, total, bytes);
  return (
    <>
      <Chart
        label={`${pluralize(items.length, "partition")} by data size, in the colours of their average file size`}
        option={option}
      />
      <details>
        <summary>Show as a table</summary>
        <Grid
          label="Partitions by data size"
          headings={[
            "Partition",
            "Average file size",
            { figures: "Avg size" },
            { figures: "Files" },
            { figures: "Data size" },
          ]}
        >
          {items.map((item) => (
            <tr key={`${item.spec_id}/${item.partition}`}>
              <th scope="row" className="mono partition" title={`partition spec ${item.spec_id}`}>
                {namePartition(item)}
              </th>
              <td>
                {item.band && (canImprove || item.band === "healthy") ? (
                  <BandBadge band={item.band} />
                ) : (
                  item.band && <span className="badge">Small by nature</span>
                )}
              </td>
              <td className="num">{formatBytes(item.average_file_size_bytes)}</td>
              <td className="num">{formatCount(item.data_files)}</td>
              <td className="num">{formatBytes(item.data_bytes)}</td>
            </tr>
          ))}
          {rest && (
            <tr>
              <th scope="row">{pluralize(rest.partitions, "other partition")}</th>
              <td />
              <td />
              <td />
              <td className="num">{formatBytes(rest.bytes)}</td>
            </tr>
          )}
        </Grid>
      </details>
    </>
  );
}

/** False where the one state of the table says that nothing is to be gained. */
function canImprove({ status }: TableDetail): boolean {
  return status?.state !== "small_by_nature" && status?.state !== "healthy";
}

/** Where small files are: area is data size, colour is the band of the average file size. */
export function PartitionMap({ table, path }: { table: TableDetail; path: TablePath }) {
  const partitions = useQuery(largestPartitionsQuery(path));
  const { items = [], total = 0 } = partitions.data ?? {};
  return (
    <Panel
      title="Data by partition"
      aside={
        total > items.length && (
          <span className="dim">
            the largest {items.length} of {formatCount(total)} partitions
          </span>
        )
      }
    >
      <Loaded query={partitions} label="the largest partitions">
        {(page) => (
          <MapOfPartitions
            items={page.items}
            total={page.total}
            bytes={table.data_bytes}
            canImprove={canImprove(table)}
          />
        )}
      </Loaded>
    </Panel>
  );
}
