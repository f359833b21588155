import { queryOptions } from "@tanstack/react-query";
import { client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";

/** Whether all is well, in the daemon's words; the inbox has what needs a person. */
export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: ({ signal }) =>
    unwrap(client.GET("/api/v1/status", { params: { query: { limit: 1 } }, signal })),
  refetchInterval: TABLES_EVERY_MS,
});
