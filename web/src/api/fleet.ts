import { keepPreviousData, queryOptions, useMutation } from "@tanstack/react-query";
import { HISTORY_RANGES, type HistoryRange } from "../lib/metrics";
import { client, unwrap } from "./client";

/** How often what concerns tables is read again. */
export const TABLES_EVERY_MS = 15_000;
const QUEUE_SHOWN = 10;
export const LARGEST_TABLES = 200;
const MOST_NAMESPACES = 1000;
/** Days of the daily bars, today included. */
export const DAYS_SHOWN = 30;

export const startOf = (range: HistoryRange) =>
  new Date(Date.now() - HISTORY_RANGES[range] * 3_600_000).toISOString();

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/overview", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});

/** Where sums are taken: the fleet, a catalog, or one of its namespaces. */
const placeOf = (catalog: string | undefined, namespace: string | undefined) => ({
  ...(catalog ? { catalog } : {}),
  ...(catalog && namespace ? { namespace } : {}),
});

/** The sums of the fleet, of a catalog or of a namespace over time. */
export const fleetHistoryQuery = (
  catalog: string | undefined,
  namespace: string | undefined,
  range: HistoryRange,
) =>
  queryOptions({
    queryKey: ["overview", "history", catalog, namespace, range],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/overview/history", {
          params: { query: { from: startOf(range), ...placeOf(catalog, namespace) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: TABLES_EVERY_MS,
  });

/** What maintenance has cost and saved by day. */
export const dailyWorkQuery = (catalog: string | undefined, namespace: string | undefined) =>
  queryOptions({
    queryKey: ["overview", "days", catalog, namespace],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/overview/days", {
          params: { query: { from: startOf("30d"), ...placeOf(catalog, namespace) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: TABLES_EVERY_MS,
  });

/** The namespaces, by catalog and name; of very many the first. */
export const namespacesQuery = queryOptions({
  queryKey: ["overview", "namespaces"],
  queryFn: ({ signal }) =>
    unwrap(
      client.GET("/api/v1/namespaces", { params: { query: { limit: MOST_NAMESPACES } }, signal }),
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

/** The tables with the most data, for the tree map. */
export const largestTablesQuery = queryOptions({
  queryKey: ["tables", "largest"],
  queryFn: ({ signal }) =>
    unwrap(
      client.GET("/api/v1/tables", {
        params: { query: { sort: "-data_bytes", limit: LARGEST_TABLES } },
        signal,
      }),
    ),
  refetchInterval: TABLES_EVERY_MS,
});

export const catalogStorageQuery = queryOptions({
  queryKey: ["catalogs", "storage"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/catalogs/storage", { signal })),
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

export const replicasQuery = queryOptions({
  queryKey: ["replicas"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/replicas", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});

/** Sends a test message to each target of notifications. */
export const useTryTargets = () =>
  useMutation({ mutationFn: () => unwrap(client.POST("/api/v1/notifications/test")) });

/** The configuration of the process that answers; it changes only with a restart. */
export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/settings", { signal })),
});
