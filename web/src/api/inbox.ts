import { queryOptions } from "@tanstack/react-query";
import { client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";

const MOST_ENTRIES = 1000;

/** What needs a person. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) =>
    unwrap(client.GET("/api/v1/inbox", { params: { query: { limit: MOST_ENTRIES } }, signal })),
  refetchInterval: TABLES_EVERY_MS,
});
