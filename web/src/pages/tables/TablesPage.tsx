import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { tablesCsvAddress, tablesQuery } from "../../api/tableList";
import type { TableSummary } from "../../api/types";
import { Empty, ErrorNotice, Loading } from "../../components/notices";
import type { TablesAddress } from "../../lib/addresses";
import { pluralize } from "../../lib/format";
import { DEFAULT_SORT } from "../../lib/sorts";
import {
  DEFAULT_COLUMNS,
  parseColumns,
  recallColumns,
  rememberColumns,
  writeColumns,
} from "../../lib/tableColumns";
import { ColumnMenu } from "./ColumnMenu";
import { TableFilters } from "./TableFilters";
import { MAX_SELECTED, SelectionBar } from "./SelectionBar";
import { TableList } from "./TableList";
import type { Selection } from "./TableRow";

const route = getRouteApi("/tables");
const LIST_HEIGHT = 400;

/** The list of tables, worst first. */
export function TablesPage() {
  useDocumentTitle("Tables – iceberg-maintainer");
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const { search = "", catalog, namespace, state, sort = DEFAULT_SORT } = address;
  const filters = { search, catalog, namespace, state, sort };
  const tables = useInfiniteQuery(tablesQuery(filters));
  const change = (changed: TablesAddress) =>
    void navigate({
      search: (present) => dropEmpty({ ...present, ...changed }),
      // Back undoes a choice, not each letter of a search.
      replace: "search" in changed,
      resetScroll: false,
    });
  const first = tables.data?.pages[0];
  const listed = tables.data?.pages.flatMap((page) => page.items) ?? [];
  const [selected, setSelected] = useState<TableSummary[] | null>(null);
  const columns = parseColumns(address.columns ?? recallColumns()) ?? DEFAULT_COLUMNS;
  const choose = (chosen: string | undefined) => {
    rememberColumns(chosen);
    change({ columns: chosen });
  };
  // A copied address shows others the same columns.
  const written = writeColumns(columns);
  useEffect(() => {
    if (written !== address.columns)
      void navigate({
        search: (present) => ({ ...present, columns: written }),
        replace: true,
        resetScroll: false,
      });
  }, [written, address.columns, navigate]);
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Tables</h1>
        <div className="row">
          <span className="dim" aria-live="polite">
            {first && pluralize(first.total, "table")}
          </span>
          {first && first.total > 0 && !selected && (
            <Button onClick={() => setSelected([])}>Select…</Button>
          )}
          <ColumnMenu columns={columns} onChange={choose} />
          {first && first.total > 0 && (
            <a href={tablesCsvAddress(filters)} download="tables.csv">
              Download CSV
            </a>
          )}
        </div>
      </div>
      <TableFilters
        address={address}
        onChange={change}
        onClear={() => change({ search: "", catalog: "", namespace: "", state: undefined })}
      />
      {selected && (
        <SelectionBar
          selected={selected}
          shown={listed.length}
          onSelectShown={() => setSelected(listed.slice(0, MAX_SELECTED))}
          onEnd={() => setSelected(null)}
        />
      )}
      {tables.error && <ErrorNotice error={tables.error} onRetry={() => void tables.refetch()} />}
      {first ? (
        first.total === 0 ? (
          <div className="panel">
            {search || catalog || namespace || state ? (
              <Empty title="No table matches these filters">
                Change or clear them to see others.
              </Empty>
            ) : (
              <Empty title="No tables yet">
                They appear here when the first scan of the catalogs is done.
              </Empty>
            )}
          </div>
        ) : (
          <TableList
            tables={listed}
            columns={columns}
            total={first.total}
            sort={sort}
            onSort={(chosen) => change({ sort: chosen })}
            hasMore={tables.hasNextPage}
            isLoadingMore={tables.isFetchingNextPage}
            onMore={tables.fetchNextPage}
            selection={selected ? makeSelection(selected, setSelected) : undefined}
          />
        )
      ) : (
        !tables.error && <Loading height={LIST_HEIGHT} label="the tables" />
      )}
    </div>
  );
}

/** Selects and unselects tables, at most so many. */
function makeSelection(
  selected: TableSummary[],
  change: (selected: TableSummary[]) => void,
): Selection {
  const has = (name: string) => selected.some(({ table }) => table === name);
  return {
    has,
    isFull: selected.length >= MAX_SELECTED,
    toggle: (chosen) =>
      change(
        has(chosen.table)
          ? selected.filter(({ table }) => table !== chosen.table)
          : [...selected, chosen],
      ),
  };
}

/** An address keeps only what was chosen. */
function dropEmpty(address: TablesAddress): TablesAddress {
  return Object.fromEntries(Object.entries(address).filter(([, value]) => Boolean(value)));
}
