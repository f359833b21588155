import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { prefix } from "../lib/prefix";
import { client, unwrap } from "./client";
import type { ReportChoice, TablePath } from "./types";

/** How often the report is summed up again: it reads every table. */
const REPORT_EVERY_MS = 300_000;

/** What small files cost, by namespace. */
export const smallFilesQuery = (choice: ReportChoice) =>
  queryOptions({
    queryKey: ["reports", "small-files", choice.storage, choice.scans_per_day],
    queryFn: ({ signal }) =>
      unwrap(client.GET("/api/v1/reports/small-files", { params: { query: choice }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: REPORT_EVERY_MS,
  });

/** The jobs, the time and the GB-hours until a table is healthy. */
export const rescueQuery = (path: TablePath) =>
  queryOptions({
    queryKey: ["table", path.catalog, path.namespace, path.table, "rescue"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/rescue", {
          params: { path },
          signal,
        }),
      ),
    refetchInterval: REPORT_EVERY_MS,
  });

/** The address of the same report as CSV. */
export function smallFilesCsvAddress({ storage, scans_per_day }: ReportChoice): string {
  const query = new URLSearchParams({
    ...(storage ? { storage } : {}),
    ...(scans_per_day ? { scans_per_day: String(scans_per_day) } : {}),
  });
  return `${prefix}/api/v1/reports/small-files.csv?${query.toString()}`;
}
