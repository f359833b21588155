import { Button } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { TREND_TABLES } from "../../api/trends";
import type { TableSummary } from "../../api/types";
import { formatCount, pluralize } from "../../lib/format";
import {
  columnOf,
  directionOf,
  SORT_COLUMNS,
  sortBy,
  type SortColumn,
  type TableSort,
} from "../../lib/sorts";
import { TABLE_COLUMNS, type TableColumn } from "../../lib/tableColumns";
import { TableRow, type Selection } from "./TableRow";

const ROW_HEIGHT = 40;
/** More rows are asked for so many before the end. */
const LOAD_BEFORE = 20;
const OVERSCAN = 8;
/** The name and the band, besides the chosen ones. */
const FIXED_COLUMNS = 2;

interface HeadProps {
  column: SortColumn;
  label: string;
  sort: TableSort;
  isNumber?: boolean;
  onSort: (sort: TableSort) => void;
}

function Head({ column, label, sort, isNumber = false, onSort }: HeadProps) {
  const isSorted = columnOf(sort) === column;
  const direction = directionOf(sort);
  return (
    <th
      scope="col"
      role="columnheader"
      className={isNumber ? "num" : undefined}
      {...(isSorted && { "aria-sort": direction })}
    >
      <button
        type="button"
        className="sort"
        title={`Sort by ${SORT_COLUMNS[column].label}`}
        onClick={() => onSort(sortBy(column, sort))}
      >
        {label}
        {isSorted && <span aria-hidden>{direction === "ascending" ? "↑" : "↓"}</span>}
      </button>
    </th>
  );
}

interface TableListProps {
  tables: TableSummary[];
  columns: readonly TableColumn[];
  total: number;
  sort: TableSort;
  onSort: (sort: TableSort) => void;
  hasMore: boolean;
  isLoadingMore: boolean;
  /** Stable. */
  onMore: () => unknown;
  /** While tables are being selected. */
  selection?: Selection | undefined;
}

/** Tables as rows of which only those in sight are in the document. */
export function TableList({
  tables,
  columns,
  total,
  sort,
  onSort,
  hasMore,
  isLoadingMore,
  onMore,
  selection,
}: TableListProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    // What stands above the list grows and shrinks: alerts come and go.
    const place = () =>
      body.current && setOffset(body.current.getBoundingClientRect().top + window.scrollY);
    place();
    const observer = new ResizeObserver(place);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);

  const virtual = useWindowVirtualizer({
    count: tables.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin: offset,
    getItemKey: (index) => tables[index]?.table ?? index,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  const isNearEnd = hasMore && !isLoadingMore && lastShown >= tables.length - LOAD_BEFORE;
  useEffect(() => {
    if (isNearEnd) onMore();
  }, [isNearEnd, onMore]);
  const chunks = useMemo(
    () =>
      Array.from({ length: Math.ceil(tables.length / TREND_TABLES) }, (_, index) =>
        tables
          .slice(index * TREND_TABLES, (index + 1) * TREND_TABLES)
          .map(({ table }) => table)
          .sort(),
      ),
    [tables],
  );
  const above = (items[0]?.start ?? offset) - offset;
  const below = Math.max(
    0,
    virtual.getTotalSize() +
      offset -
      (items.at(-1)?.end ?? offset) -
      (items.length === 0 ? above : 0),
  );
  const head = { sort, onSort };
  return (
    <div className="panel panel-flush">
      <div className="scroll-x" tabIndex={0} role="group" aria-label="The list of tables">
        <table className="grid grid-cards grid-lines" role="table" aria-rowcount={total + 1}>
          <caption className="hidden">
            {pluralize(total, "table")}, sorted by {SORT_COLUMNS[columnOf(sort)].label},{" "}
            {directionOf(sort)}
          </caption>
          <thead role="rowgroup">
            <tr role="row">
              <Head column="name" label="Table" {...head} />
              <Head column="band" label="State" {...head} />
              {columns.map((column) => {
                const { label, sort: sortColumn } = TABLE_COLUMNS[column];
                return sortColumn ? (
                  <Head key={column} column={sortColumn} label={label} isNumber {...head} />
                ) : (
                  <th
                    key={column}
                    scope="col"
                    role="columnheader"
                    className={
                      column === "findings" ? "head-line" : column === "trend" ? undefined : "num"
                    }
                  >
                    {label}
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody role="rowgroup" ref={body}>
            <Spacer height={above} span={FIXED_COLUMNS + columns.length} />
            {items.map((item) => {
              const table = tables[item.index];
              return (
                table && (
                  <TableRow
                    key={item.key}
                    table={table}
                    columns={columns}
                    index={item.index}
                    measure={virtual.measureElement}
                    selection={selection}
                    among={chunks[Math.floor(item.index / TREND_TABLES)]}
                  />
                )
              );
            })}
            <Spacer height={below} span={FIXED_COLUMNS + columns.length} />
          </tbody>
        </table>
      </div>
      {hasMore && (
        <div className="list-end">
          <span className="dim">
            {formatCount(tables.length)} of {formatCount(total)}
          </span>
          <Button onClick={() => void onMore()} loading={isLoadingMore}>
            Load more
          </Button>
        </div>
      )}
    </div>
  );
}

function Spacer({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr className="spacer" aria-hidden>
      <td colSpan={span} style={{ height }} />
    </tr>
  );
}
