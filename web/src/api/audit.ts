import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import type { HistoryRange } from "../lib/metrics";
import { client, unwrap } from "./client";
import { startOf, TABLES_EVERY_MS } from "./fleet";

const AUDIT_PAGE = 50;

export interface AuditFilters {
  table?: string | undefined;
  actor?: string | undefined;
  range?: HistoryRange | undefined;
}

/** Pages of the audit log, newest first. */
export const auditQuery = ({ table, actor, range }: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ["audit", table, actor, range],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET("/api/v1/audit", {
          params: {
            query: {
              limit: AUDIT_PAGE,
              ...(table && { table }),
              ...(actor && { actor }),
              ...(range && { since: startOf(range) }),
              ...(pageParam && { cursor: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      (query.state.data?.pages.length ?? 0) <= 1 ? TABLES_EVERY_MS : false,
  });
