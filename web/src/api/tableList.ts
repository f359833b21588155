import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { prefix } from "../lib/prefix";
import type { TableSort } from "../lib/sorts";
import { client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";
import { REFRESHED_PAGES } from "./queries";
import type { TableState } from "./types";

const TABLE_PAGE = 100;

export interface TableFilters {
  search: string;
  catalog: string | undefined;
  namespace: string | undefined;
  state: TableState | undefined;
  sort: TableSort;
}

export const tablesQuery = (filters: TableFilters) =>
  infiniteQueryOptions({
    queryKey: ["tables", filters],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET("/api/v1/tables", {
          params: {
            query: {
              sort: filters.sort,
              limit: TABLE_PAGE,
              ...(filters.search ? { search: filters.search } : {}),
              ...(filters.catalog ? { catalog: filters.catalog } : {}),
              ...(filters.namespace ? { namespace: filters.namespace } : {}),
              ...(filters.state ? { state: filters.state } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      (query.state.data?.pages.length ?? 0) <= REFRESHED_PAGES ? TABLES_EVERY_MS : false,
  });

/** The address of the whole filtered list as CSV. */
export function tablesCsvAddress({
  search,
  catalog,
  namespace,
  state,
  sort,
}: TableFilters): string {
  const chosen = Object.entries({ search, catalog, namespace, state, sort });
  const query = new URLSearchParams(
    chosen.flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  return `${prefix}/api/v1/tables.csv?${query.toString()}`;
}
