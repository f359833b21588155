import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { governedQuery } from "../../api/policies";
import type { PolicyLayer } from "../../api/types";
import { LoadMore } from "../../components/LoadMore";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { PolicyValues } from "../../components/PolicyValues";
import { TableLink } from "../../components/TableLink";
import { formatCount, pluralize } from "../../lib/format";

function Governed({ name }: { name: string }) {
  const governed = useInfiniteQuery(governedQuery(name));
  return (
    <Loaded query={governed} label="the tables of the policy" height={64}>
      {({ pages }) => {
        const names = pages.flatMap((page) => page.items);
        if (names.length === 0)
          return <Empty title="No known table has such a name">The file has no effect yet.</Empty>;
        return (
          <div className="stack-tight">
            <p className="dim">
              {pluralize(pages[0]?.total ?? 0, "table")}; a more specific file may set other values
              for some of them.
            </p>
            <ul className="names">
              {names.map((table) => (
                <li key={table}>
                  <TableLink name={table} />
                </li>
              ))}
            </ul>
            <LoadMore query={governed} shown={`${formatCount(names.length)} shown`} />
          </div>
        );
      }}
    </Loaded>
  );
}

/** One policy file: its patterns, its values with their lines, and its tables when opened. */
export function LayerPanel({ layer }: { layer: PolicyLayer }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Panel title={layer.name} aside={<span className="mono dim">{layer.tables.join(", ")}</span>}>
      <div className="stack-tight">
        <PolicyValues values={layer.values} caption={`Values of ${layer.name}`} />
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Tables of {layer.name}</summary>
          {isOpen && <Governed name={layer.name} />}
        </details>
      </div>
    </Panel>
  );
}
