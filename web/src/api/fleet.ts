import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { HISTORY_RANGES, type HistoryRange } from "../lib/metrics";
import { client, unwrap } from "./client";

/** How often what concerns tables is read again. */
export const TABLES_EVERY_MS = 15_000;
const QUEUE_SHOWN = 5;
const WORST_TABLES = 5;

export const startOf = (range: HistoryRange) =>
  new Date(Date.now() - HISTORY_RANGES[range] * 3_600_000).toISOString();

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/overview", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});

/** The sums of the fleet, or of one catalog, over time. */
export const fleetHistoryQuery = (catalog: string | undefined, range: HistoryRange) =>
  queryOptions({
    queryKey: ["overview", "history", catalog, range],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/overview/history", {
          params: { query: { from: startOf(range), ...(catalog ? { catalog } : {}) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: TABLES_EVERY_MS,
  });

export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: ({ signal }) =>
    unwrap(client.GET("/api/v1/queue", { params: { query: { limit: QUEUE_SHOWN } }, signal })),
  refetchInterval: TABLES_EVERY_MS,
});

/** The tables that maintenance is needed for most, whatever the list below is filtered by. */
export const worstTablesQuery = queryOptions({
  queryKey: ["tables", "worst"],
  queryFn: ({ signal }) =>
    unwrap(
      client.GET("/api/v1/tables", {
        params: { query: { sort: "-band", limit: WORST_TABLES } },
        signal,
      }),
    ),
  refetchInterval: TABLES_EVERY_MS,
});

export const catalogsQuery = queryOptions({
  queryKey: ["catalogs"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/catalogs", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});

export const poolsQuery = queryOptions({
  queryKey: ["pools"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/pools", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});
