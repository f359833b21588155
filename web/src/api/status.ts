import { queryOptions } from "@tanstack/react-query";
import { client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";

const MOST_TABLES = 60;

/** Whether all is well, in the daemon's words, and the first tables, the most urgent first. */
export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) =>
    unwrap(client.GET("/api/v1/status", { params: { query: { limit: MOST_TABLES } }, signal })),
  refetchInterval: TABLES_EVERY_MS,
});
