import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { catalogsQuery } from "../../api/fleet";
import type { CatalogOut } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { PausePanel } from "../../components/Pauses";
import { TimeAgo } from "../../components/TimeAgo";
import { CatalogGrid } from "../fleet/CatalogList";
import { ScanPanel } from "./ScanPanel";
import { StoragePanel } from "./StoragePanel";

const PAGE_HEIGHT = 300;

/** Catalogs and namespaces that could not be listed, catalog by catalog. */
export function CatalogFaults({ catalogs }: { catalogs: CatalogOut[] }) {
  const faults = catalogs.flatMap(({ name, faults: found }) =>
    found.map((fault) => ({ name, ...fault })),
  );
  if (faults.length === 0)
    return <Empty title="Every catalog answered, and each namespace was listed" />;
  return (
    <Grid
      label="Catalogs and namespaces that could not be listed"
      headings={["Catalog", "Namespace", "Reason", "Seen"]}
    >
      {faults.map((fault) => (
        <tr key={`${fault.name} ${fault.namespace}`}>
          <th scope="row">{fault.name}</th>
          <td>{fault.namespace || "all"}</td>
          <td className="words">{fault.reason}</td>
          <td>
            <TimeAgo time={fault.seen_at} />
          </td>
        </tr>
      ))}
    </Grid>
  );
}

/** The configured catalogs: their sums, and which could not be reached. */
export function CatalogsPage() {
  useDocumentTitle("Catalogs – iceberg-maintainer");
  const catalogs = useQuery(catalogsQuery);
  return (
    <div className="stack">
      <h1>Catalogs</h1>
      <Loaded query={catalogs} label="the catalogs" height={PAGE_HEIGHT}>
        {(known) => (
          <>
            <Panel title="Reachability">
              <CatalogFaults catalogs={known} />
            </Panel>
            <ScanPanel catalogs={known} />
            <Panel title="Figures">
              <CatalogGrid catalogs={known} />
            </Panel>
            <StoragePanel />
            <PausePanel />
          </>
        )}
      </Loaded>
    </div>
  );
}
