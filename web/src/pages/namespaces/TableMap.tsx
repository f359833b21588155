import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { LARGEST_TABLES, largestTablesQuery } from "../../api/fleet";
import type { TableSummary } from "../../api/types";
import { TableBadges } from "../../components/badges";
import { Chart } from "../../components/Chart";
import { Grid } from "../../components/Grid";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { TableLink } from "../../components/TableLink";
import { formatBytes, pluralize } from "../../lib/format";
import { drawTreeMap } from "../../lib/treeMap";
import type { Palette } from "../../lib/palette";

export function MapOfTables({ tables }: { tables: TableSummary[] }) {
  const option = useCallback((palette: Palette) => drawTreeMap(tables, palette), [tables]);
  const shown = tables.filter((table) => table.data_bytes && table.band !== null);
  if (shown.length === 0) return <Empty title="No measured table has data yet" />;
  return (
    <>
      <Chart
        label={`${pluralize(shown.length, "table")} by data size, in the colours of their states`}
        option={option}
      />
      <details>
        <summary>Show as a table</summary>
        <Grid label="Tables by data size" headings={["Table", "State", { figures: "Data size" }]}>
          {shown.map((table) => (
            <tr key={table.table}>
              <th scope="row">
                <TableLink name={table.table} />
              </th>
              <td>
                <TableBadges table={table} />
              </td>
              <td className="num">{formatBytes(table.data_bytes)}</td>
            </tr>
          ))}
        </Grid>
      </details>
    </>
  );
}

/** The largest tables: area is data size, colour is the state. */
export function TableMap() {
  const tables = useQuery(largestTablesQuery);
  return (
    <Panel
      title="Where the data is"
      aside={
        (tables.data?.items.length ?? 0) >= LARGEST_TABLES && (
          <span className="dim">the largest {LARGEST_TABLES} tables</span>
        )
      }
    >
      <Loaded query={tables} label="the largest tables">
        {({ items }) => <MapOfTables tables={items} />}
      </Loaded>
    </Panel>
  );
}
