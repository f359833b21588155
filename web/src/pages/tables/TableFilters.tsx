import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { catalogsQuery, namespacesQuery } from "../../api/fleet";
import type { TablesAddress } from "../../lib/addresses";
import { DEFAULT_SORT, isTableSort, SORT_COLUMNS, type SortColumn } from "../../lib/sorts";
import { TABLE_STATE_WORDS, TABLE_STATES } from "../../lib/words";

const TYPING_PAUSE_MS = 250;
const COLUMNS = Object.keys(SORT_COLUMNS) as SortColumn[];

interface TableFiltersProps {
  address: TablesAddress;
  onChange: (change: TablesAddress) => void;
  onClear: () => void;
}

/** Follows the address, and reports the text once typing pauses. */
function SearchBox({ value, onSearch }: { value: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const timer = useRef<number>(undefined);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return (
    <TextInput
      type="search"
      label="Search"
      placeholder="Part of a table's name"
      value={typed}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        window.clearTimeout(timer.current);
        timer.current = window.setTimeout(() => onSearch(text.trim()), TYPING_PAUSE_MS);
      }}
    />
  );
}

export function TableFilters({ address, onChange, onClear }: TableFiltersProps) {
  const catalogs = useQuery(catalogsQuery).data ?? [];
  const { data: namespaces } = useQuery(namespacesQuery);
  const inside = [
    ...new Set(
      (namespaces?.items ?? [])
        .filter((one) => !address.catalog || one.catalog === address.catalog)
        .map((one) => one.namespace),
    ),
  ];
  const isFiltered = Boolean(
    address.search ?? address.catalog ?? address.namespace ?? address.state,
  );
  return (
    <form
      className="filters"
      role="search"
      aria-label="Tables"
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchBox value={address.search ?? ""} onSearch={(search) => onChange({ search })} />
      <NativeSelect
        label="Catalog"
        value={address.catalog ?? ""}
        data={[
          { value: "", label: "All" },
          ...catalogs.map(({ name, tables }) => ({ value: name, label: `${name} (${tables})` })),
        ]}
        onChange={({ currentTarget: { value } }) => onChange({ catalog: value, namespace: "" })}
      />
      {(inside.length > 1 || address.namespace) && (
        <NativeSelect
          label="Namespace"
          value={address.namespace ?? ""}
          data={[{ value: "", label: "All" }, ...inside]}
          onChange={({ currentTarget: { value } }) => onChange({ namespace: value })}
        />
      )}
      <NativeSelect
        label="State"
        value={address.state ?? ""}
        data={[
          { value: "", label: "All" },
          ...TABLE_STATES.map((value) => ({ value, label: TABLE_STATE_WORDS[value] })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          onChange({ state: TABLE_STATES.find((state) => state === value) })
        }
      />
      <NativeSelect
        label="Sort by"
        value={address.sort ?? DEFAULT_SORT}
        data={COLUMNS.flatMap((column) => {
          const { label } = SORT_COLUMNS[column];
          return [
            { value: column, label: `${label}, ascending` },
            { value: `-${column}`, label: `${label}, descending` },
          ];
        })}
        onChange={({ currentTarget: { value } }) => isTableSort(value) && onChange({ sort: value })}
      />
      {isFiltered && <Button onClick={onClear}>Clear filters</Button>}
    </form>
  );
}
