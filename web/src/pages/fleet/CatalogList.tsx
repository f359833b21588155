import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { catalogsQuery } from "../../api/fleet";
import type { CatalogOut } from "../../api/types";
import { StateCounts } from "../../components/badges";
import { Grid } from "../../components/Grid";
import { Panel } from "../../components/Panel";
import { PauseButton } from "../../components/Pauses";
import { formatBytes, formatCount } from "../../lib/format";

export function CatalogGrid({ catalogs }: { catalogs: CatalogOut[] }) {
  return (
    <Grid
      label="Catalogs, figures"
      headings={[
        "Catalog",
        "Kind",
        { figures: "Tables" },
        { figures: "Avg file size" },
        { figures: "Data files" },
        { figures: "Small files" },
        { figures: "Data size" },
        "States",
        "Pause",
      ]}
    >
      {catalogs.map((catalog) => (
        <tr key={catalog.name}>
          <th scope="row">
            <Link to="/tables" search={{ catalog: catalog.name }}>
              {catalog.name}
            </Link>
          </th>
          <td>{catalog.type}</td>
          <td className="num">{formatCount(catalog.tables)}</td>
          <td className="num">{formatBytes(catalog.average_file_size_bytes)}</td>
          <td className="num">{formatCount(catalog.data_files)}</td>
          <td className="num">{formatCount(catalog.small_files)}</td>
          <td className="num">{formatBytes(catalog.data_bytes)}</td>
          <td>
            <StateCounts states={catalog.states} place={{ catalog: catalog.name }} />
          </td>
          <td>
            <PauseButton scope={catalog.name} />
          </td>
        </tr>
      ))}
    </Grid>
  );
}

/** Figures of each catalog; not shown for a fleet of one catalog. */
export function CatalogList() {
  const catalogs = useQuery(catalogsQuery).data ?? [];
  if (catalogs.length < 2) return null;
  return (
    <Panel title="Catalogs">
      <CatalogGrid catalogs={catalogs} />
    </Panel>
  );
}
