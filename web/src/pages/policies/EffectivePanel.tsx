import { useQuery } from "@tanstack/react-query";
import { effectivePolicyQuery } from "../../api/policies";
import type { TablePath } from "../../api/types";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { PolicyValues } from "../../components/PolicyValues";
import { TableLink } from "../../components/TableLink";
import { TablePicker } from "../../components/TablePicker";
import { locateTable } from "../../lib/identifier";

function Effective({ path, name }: { path: TablePath; name: string }) {
  const policy = useQuery(effectivePolicyQuery(path));
  return (
    <Loaded query={policy} label="the policy of the table">
      {({ values }) => (
        <Panel title="Effective policy" aside={<TableLink name={name} />}>
          <PolicyValues values={values} caption={`Values of the policy of ${name}`} />
        </Panel>
      )}
    </Loaded>
  );
}

/** What the files together mean for one table, each value with its file and line. */
export function EffectivePanel({
  table,
  onChoose,
}: {
  table: string;
  onChoose: (table: string) => void;
}) {
  const path = locateTable(table);
  return (
    <div className="stack">
      <TablePicker value={table} onChoose={onChoose} />
      {path ? (
        <Effective path={path} name={table} />
      ) : (
        <Empty title={table ? "No table has this name" : "Choose a table"}>
          A name has a catalog, a namespace and a table, such as lake.sales.orders.
        </Empty>
      )}
    </div>
  );
}
