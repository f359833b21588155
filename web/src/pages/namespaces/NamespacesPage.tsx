import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { namespacesQuery } from "../../api/fleet";
import type { Namespace } from "../../api/types";
import { StateCounts } from "../../components/badges";
import { Grid } from "../../components/Grid";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { PauseButton, PausePanel } from "../../components/Pauses";
import { formatBytes, formatCount, pluralize } from "../../lib/format";
import { TableMap } from "./TableMap";

const LIST_HEIGHT = 300;

export function NamespaceGrid({ namespaces }: { namespaces: Namespace[] }) {
  if (namespaces.length === 0)
    return <Empty title="No namespaces yet">They appear here with their first table.</Empty>;
  return (
    <Grid
      label="Namespaces, figures"
      headings={[
        "Namespace",
        { figures: "Tables" },
        "States",
        { figures: "Avg file size" },
        { figures: "Data files" },
        { figures: "Small files" },
        { figures: "Data size" },
        "History",
        "Pause",
      ]}
    >
      {namespaces.map((one) => {
        const place = { catalog: one.catalog, namespace: one.namespace };
        return (
          <tr key={`${one.catalog}/${one.namespace}`}>
            <th scope="row">
              <Link to="/tables" search={place}>
                {one.catalog}.{one.namespace}
              </Link>
            </th>
            <td className="num">{formatCount(one.tables)}</td>
            <td>
              <StateCounts states={one.states} place={place} />
            </td>
            <td className="num">{formatBytes(one.average_file_size_bytes)}</td>
            <td className="num">{formatCount(one.data_files)}</td>
            <td className="num">{formatCount(one.small_files)}</td>
            <td className="num">{formatBytes(one.data_bytes)}</td>
            <td>
              <Link to="/" search={place} aria-label={`Over time: ${one.catalog}.${one.namespace}`}>
                Over time
              </Link>
            </td>
            <td>
              <PauseButton scope={`${one.catalog}.${one.namespace}`} />
            </td>
          </tr>
        );
      })}
    </Grid>
  );
}

/** Every namespace in figures, and the largest tables as a map. */
export function NamespacesPage() {
  useDocumentTitle("Namespaces – iceberg-maintainer");
  const namespaces = useQuery(namespacesQuery);
  const { items = [], total = 0 } = namespaces.data ?? {};
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Namespaces</h1>
        <span className="dim" aria-live="polite">
          {namespaces.data && pluralize(total, "namespace")}
          {total > items.length && `, the first ${formatCount(items.length)} are shown`}
        </span>
      </div>
      <TableMap />
      <Panel title="By namespace">
        <Loaded query={namespaces} label="the namespaces" height={LIST_HEIGHT}>
          {(data) => <NamespaceGrid namespaces={data.items} />}
        </Loaded>
      </Panel>
      <PausePanel />
    </div>
  );
}
