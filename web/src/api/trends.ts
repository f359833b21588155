import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HistoryMetric } from "../lib/metrics";
import { client, unwrap } from "./client";

const TRENDS_EVERY_MS = 60_000;
/** The most tables of one request. */
export const TREND_TABLES = 50;

/** The metric of these tables in the last 7 days, by the table's full name. */
export const trendsQuery = (tables: string[], metric: HistoryMetric) =>
  queryOptions({
    queryKey: ["trends", metric, tables],
    queryFn: async ({ signal }) => {
      const { items } = await unwrap(
        client.GET("/api/v1/trends", { params: { query: { table: tables, metric } }, signal }),
      );
      return new Map(items.map(({ table, samples }) => [table, samples]));
    },
    enabled: tables.length > 0,
    placeholderData: keepPreviousData,
    staleTime: TRENDS_EVERY_MS,
    refetchInterval: TRENDS_EVERY_MS,
  });
