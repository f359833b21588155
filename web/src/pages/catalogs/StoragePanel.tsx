import { useQuery } from "@tanstack/react-query";
import { catalogStorageQuery } from "../../api/fleet";
import type { CatalogStorage } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { formatBytes, formatCount, formatSignificant, UNKNOWN } from "../../lib/format";
import { PROFILE_WORDS } from "../../lib/words";

const PANEL_HEIGHT = 120;

function formatPrice(price: number | null): string {
  return price === null ? UNKNOWN : formatSignificant(price);
}

/** The prices and the speed with which each catalog's tables are estimated. */
export function StorageGrid({ catalogs }: { catalogs: CatalogStorage[] }) {
  const rows = catalogs.flatMap(({ catalog, storages }) =>
    storages.map((storage) => ({ catalog, ...storage })),
  );
  if (rows.length === 0) return <Empty title="No table is measured yet" />;
  return (
    <Grid
      label="Storage of the catalogs"
      headings={[
        "Catalog",
        "Storage",
        { figures: "Round trip" },
        { figures: "Bandwidth" },
        { figures: "Parallelism" },
        { figures: "Price of 1 M GETs" },
        { figures: "1 M PUTs" },
        { figures: "1 M LISTs" },
        { figures: "1 GB-month" },
      ]}
    >
      {rows.map((row) => (
        <tr key={`${row.catalog} ${row.profile}`}>
          <th scope="row">{row.catalog}</th>
          <td>{PROFILE_WORDS[row.profile]}</td>
          <td className="num">{formatSignificant(row.round_trip_seconds * 1000)}&nbsp;ms</td>
          <td className="num">{formatBytes(row.bandwidth)}/s</td>
          <td className="num">{formatCount(row.parallelism)}</td>
          <td className="num">{formatPrice(row.get_price_per_million)}</td>
          <td className="num">{formatPrice(row.put_price_per_million)}</td>
          <td className="num">{formatPrice(row.list_price_per_million)}</td>
          <td className="num">{formatPrice(row.price_per_gb_month)}</td>
        </tr>
      ))}
    </Grid>
  );
}

/** The objects and the heap of each name service of HDFS; nothing without one. */
export function NameServices({ catalogs }: { catalogs: CatalogStorage[] }) {
  const rows = catalogs.flatMap(({ catalog, name_services: services }) =>
    services.map((service) => ({ catalog, ...service })),
  );
  if (rows.length === 0) return null;
  return (
    <Panel title="Name services">
      <Grid
        label="Objects and heap of the name services"
        headings={[
          "Name service",
          "Catalog",
          { figures: "Tables" },
          { figures: "Objects" },
          { figures: "Files" },
          { figures: "Directories" },
          { figures: "Blocks" },
          { figures: "Heap" },
          { figures: "With HDFS snapshots" },
        ]}
      >
        {rows.map(({ catalog, name, tables, load }) => (
          <tr key={`${catalog} ${name}`}>
            <th scope="row">{name || UNKNOWN}</th>
            <td>{catalog}</td>
            <td className="num">{formatCount(tables)}</td>
            <td className="num">{formatCount(load.objects)}</td>
            <td className="num">{formatCount(load.files)}</td>
            <td className="num">{formatCount(load.directories)}</td>
            <td className="num">{formatCount(load.blocks)}</td>
            <td className="num">{formatBytes(load.heap_bytes)}</td>
            <td className="num">{formatBytes(load.heap_bytes_with_snapshots)}</td>
          </tr>
        ))}
      </Grid>
      {rows
        .filter((service) => service.unknown_tables > 0)
        .map(({ catalog, name, sentence }) => (
          <p className="dim" key={`${catalog} ${name}`}>
            {sentence}
          </p>
        ))}
    </Panel>
  );
}

/** The storage of each catalog, and the load of its name services. */
export function StoragePanel() {
  const storage = useQuery(catalogStorageQuery);
  return (
    <Loaded query={storage} label="the storage" height={PANEL_HEIGHT}>
      {(catalogs) => (
        <>
          <Panel title="Storage profiles">
            <StorageGrid catalogs={catalogs} />
          </Panel>
          <NameServices catalogs={catalogs} />
        </>
      )}
    </Loaded>
  );
}
