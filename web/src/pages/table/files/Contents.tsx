import { useQuery } from "@tanstack/react-query";
import { partitionsQuery } from "../../../api/queries";
import type { TableDetail, TablePath } from "../../../api/types";
import { Grid } from "../../../components/Grid";
import { Empty, Loaded, Notice } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { formatBytes, formatCount, pluralize } from "../../../lib/format";

export function WorstPartitions({ path }: { path: TablePath }) {
  const partitions = useQuery(partitionsQuery(path));
  const total = partitions.data?.total;
  return (
    <Panel
      title="Worst partitions"
      aside={
        total !== undefined && (
          <span className="dim">by small files, of {pluralize(total, "partition")}</span>
        )
      }
    >
      <Loaded query={partitions} label="the partitions">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No partition contains files" />
          ) : (
            <Grid
              label="Worst partitions, figures"
              headings={[
                "Partition",
                { figures: "Small" },
                { figures: "Files" },
                { figures: "Avg size" },
                { figures: "Deletes" },
              ]}
            >
              {items.map((item) => (
                <tr key={`${item.spec_id}/${item.partition}`}>
                  <th
                    scope="row"
                    className="mono partition"
                    title={`partition spec ${item.spec_id}`}
                  >
                    {item.partition || "(unpartitioned)"}
                  </th>
                  <td className="num">{formatCount(item.small_files)}</td>
                  <td className="num" title={formatBytes(item.data_bytes)}>
                    {formatCount(item.data_files)}
                  </td>
                  <td className="num">{formatBytes(item.average_file_size_bytes)}</td>
                  <td className="num">{formatCount(item.delete_files)}</td>
                </tr>
              ))}
            </Grid>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Manifests({ table }: { table: TableDetail }) {
  if (table.manifest_groups.length === 0) return <p className="dim">No manifests.</p>;
  return (
    <Grid
      label="Manifests, figures"
      headings={["Partition spec", "Content", { figures: "Manifests" }, { figures: "Size" }]}
    >
      {table.manifest_groups.map((group) => (
        <tr key={`${group.spec_id}/${group.content}`}>
          <th scope="row">{group.spec_id}</th>
          <td>{group.content}</td>
          <td className="num">{formatCount(group.count)}</td>
          <td className="num">{formatBytes(group.bytes)}</td>
        </tr>
      ))}
    </Grid>
  );
}

/** Manifests, formats, branches and tags, and the table's location. */
export function Metadata({ table }: { table: TableDetail }) {
  const formats = Object.entries(table.formats);
  const properties = Object.entries(table.properties);
  return (
    <Panel title="Metadata">
      <div className="stack">
        {table.unreadable.length > 0 && (
          <Notice tone="critical" title="Some metadata could not be read">
            <ul className="findings">
              {table.unreadable.map((piece) => (
                <li key={piece.path}>
                  <span className="mono">{piece.path}</span>: {piece.reason}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        <Manifests table={table} />
        <dl className="description">
          <dt>Data file formats</dt>
          <dd>
            {formats.length > 0
              ? formats.map(([format, count]) => `${format} ${formatCount(count)}`).join(", ")
              : "none"}
          </dd>
          <dt>Branches and tags</dt>
          <dd>
            {table.refs.length === 0 && "none"}
            {table.refs.map((ref) => (
              <div key={ref.name}>
                {ref.name} <span className="dim">{ref.is_branch ? "branch" : "tag"} at</span>{" "}
                <span className="mono">{ref.snapshot_id}</span>
              </div>
            ))}
          </dd>
          <dt>Location</dt>
          <dd className="mono">{table.location ?? "not known"}</dd>
          <dt>Metadata file</dt>
          <dd className="mono">
            {table.metadata_location ?? "not known"}
            {table.metadata_bytes !== null && ` (${formatBytes(table.metadata_bytes)})`}
          </dd>
        </dl>
        {properties.length > 0 && (
          <details>
            <summary>{pluralize(properties.length, "table property", "table properties")}</summary>
            <dl className="description mono">
              {properties.map(([name, value]) => (
                <div key={name} className="pair">
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </Panel>
  );
}
