import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  skipToken,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { HistoryMetric, HistoryRange } from "../lib/metrics";
import { isFinal } from "../lib/words";
import { carryOut, client, unwrap } from "./client";
import { startOf, TABLES_EVERY_MS } from "./fleet";
import type { Job, JobRule, JobState, OrphanList, Plan, RuleName, TablePath } from "./types";

const JOBS_EVERY_MS = 5_000;
/** Of a page that shows a running job. */
const RUNNING_EVERY_MS = 2_000;
const JOB_PAGE = 50;
const RECENT_JOBS = 20;
const WORST_PARTITIONS = 10;
/** More areas than that look alike. */
const LARGEST_PARTITIONS = 200;
/** Beyond this many loaded pages a list is no longer read again as a whole on every tick. */
export const REFRESHED_PAGES = 3;
const VERDICT_PAGE = 50;
const SUGGESTED_TABLES = 20;

export interface JobFilters {
  state?: JobState | undefined;
  table?: string | undefined;
  rule?: JobRule | undefined;
  by?: string | undefined;
  range?: HistoryRange | undefined;
}

const atTable = (path: TablePath) => ({ params: { path } });

const tableKey = (path: TablePath) => ["table", path.catalog, path.namespace, path.table];

export const tableQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...tableKey(path), "detail"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}", { ...atTable(path), signal }),
      ),
    refetchInterval: (query) =>
      query.state.data?.outlook.job ? RUNNING_EVERY_MS : TABLES_EVERY_MS,
  });

export const historyQuery = (path: TablePath, metric: HistoryMetric, range: HistoryRange) =>
  queryOptions({
    queryKey: [...tableKey(path), "history", metric, range],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/history", {
          params: {
            path,
            query: {
              metric,
              from: startOf(range),
            },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: TABLES_EVERY_MS,
  });

export const partitionsQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...tableKey(path), "partitions"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/partitions", {
          params: { path, query: { limit: WORST_PARTITIONS } },
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

export const largestPartitionsQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...tableKey(path), "partitions", "largest"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/partitions", {
          params: { path, query: { sort: "data_bytes", limit: LARGEST_PARTITIONS } },
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

export const planQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...tableKey(path), "plan"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/plan", {
          ...atTable(path),
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

export const verdictsQuery = (path: TablePath) =>
  infiniteQueryOptions({
    queryKey: [...tableKey(path), "verdicts"],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/verdicts", {
          params: {
            path,
            query: { limit: VERDICT_PAGE, ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: (query) =>
      (query.state.data?.pages.length ?? 0) <= REFRESHED_PAGES ? TABLES_EVERY_MS : false,
  });

export const orphanListsQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...tableKey(path), "orphans"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/orphans", {
          ...atTable(path),
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

export const orphanListQuery = (path: TablePath, listId: string) =>
  queryOptions({
    queryKey: [...tableKey(path), "orphans", listId],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}", {
          params: { path: { ...path, list: listId } },
          signal,
        }),
      ),
  });

export const jobsQuery = (filters: JobFilters) =>
  infiniteQueryOptions({
    queryKey: ["jobs", filters],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET("/api/v1/jobs", {
          params: {
            query: {
              limit: JOB_PAGE,
              ...(filters.state ? { state: [filters.state] } : {}),
              ...(filters.table ? { table: filters.table } : {}),
              ...(filters.rule ? { rule: filters.rule } : {}),
              ...(filters.by ? { requested_by: filters.by } : {}),
              ...(filters.range ? { since: startOf(filters.range) } : {}),
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
      (query.state.data?.pages.length ?? 0) <= REFRESHED_PAGES ? JOBS_EVERY_MS : false,
  });

/** The newest jobs of the last day. */
export const recentJobsQuery = queryOptions({
  queryKey: ["jobs", "recent"],
  queryFn: ({ signal }) =>
    unwrap(
      client.GET("/api/v1/jobs", {
        params: { query: { limit: RECENT_JOBS, since: startOf("24h") } },
        signal,
      }),
    ),
  refetchInterval: JOBS_EVERY_MS,
});

export const jobQuery = (jobId: string) =>
  queryOptions({
    queryKey: ["job", jobId],
    queryFn: ({ signal }) =>
      unwrap(client.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: jobId } }, signal })),
    refetchInterval: (query) =>
      query.state.data && isFinal(query.state.data.state) ? false : JOBS_EVERY_MS,
  });

/** The names of the tables that a text is part of, for suggestions. */
export const tableNamesQuery = (text: string) =>
  queryOptions({
    queryKey: ["tables", "names", text],
    queryFn: async ({ signal }) => {
      const query = {
        limit: SUGGESTED_TABLES,
        sort: "name" as const,
        ...(text && { search: text }),
      };
      const page = await unwrap(client.GET("/api/v1/tables", { params: { query }, signal }));
      return page.items.map(({ table }) => table);
    },
    placeholderData: keepPreviousData,
  });

/** Everything that a changed table or job is part of. */
function useRefresh(path?: TablePath): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      ...(path ? [queries.invalidateQueries({ queryKey: tableKey(path) })] : []),
      queries.invalidateQueries({ queryKey: ["tables"] }),
      queries.invalidateQueries({ queryKey: ["jobs"] }),
      queries.invalidateQueries({ queryKey: ["job"] }),
      queries.invalidateQueries({ queryKey: ["overview"] }),
      queries.invalidateQueries({ queryKey: ["queue"] }),
      queries.invalidateQueries({ queryKey: ["inbox"] }),
    ]);
  };
}

const freshPlanKey = (path: TablePath) => [...tableKey(path), "fresh-plan"];

/** The newer of the plan that the daemon keeps and the dry run that was asked for on this page. */
export function usePlan(path: TablePath) {
  const stored = useQuery(planQuery(path));
  const fresh = useQuery<Plan>({ queryKey: freshPlanKey(path), queryFn: skipToken }).data;
  const isFresher =
    fresh !== undefined &&
    (!stored.data || Date.parse(fresh.made_at) > Date.parse(stored.data.made_at));
  return isFresher ? { ...stored, data: fresh, error: null } : stored;
}

/** Plans afresh; the daemon answers with a plan that it does not keep. */
export function usePlanAgain(path: TablePath) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/plan", atTable(path))),
    onSuccess: (plan) => queries.setQueryData(freshPlanKey(path), plan),
  });
}

export function useRunNow(path: TablePath) {
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: (rules: RuleName[]) =>
      unwrap(
        client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/run", {
          ...atTable(path),
          body: { rules },
        }),
      ),
    onSuccess: refresh,
  });
}

/** Measures the table at once; the answer is the table as it is now. */
export function useMeasureNow(path: TablePath) {
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: () =>
      unwrap(client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/measure", atTable(path))),
    onSettled: refresh,
  });
}

export function usePause(path: TablePath) {
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: (reason: string) =>
      unwrap(
        client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/pause", {
          ...atTable(path),
          body: { reason },
        }),
      ),
    onSuccess: refresh,
  });
}

export function useResume(path: TablePath) {
  const refresh = useRefresh(path);
  return useMutation({
    mutationFn: () =>
      carryOut(client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/resume", atTable(path))),
    onSuccess: refresh,
  });
}

export type OrphanVerb = "approve" | "reject" | "restore";

/** The hash goes with an approval: what is approved is the list that was looked at. */
export function useDecideOnOrphans(path: TablePath, list: OrphanList) {
  const refresh = useRefresh(path);
  const params = { path: { ...path, list: list.list_id } };
  return useMutation({
    mutationFn: ({ verb, by }: { verb: OrphanVerb; by: string }) => {
      switch (verb) {
        case "approve":
          return unwrap(
            client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/approve", {
              params,
              body: { by, sha256: list.sha256 },
            }),
          );
        case "reject":
          return unwrap(
            client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/reject", {
              params,
              body: { by },
            }),
          );
        case "restore":
          return unwrap(
            client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/restore", {
              params,
              body: { by },
            }),
          );
      }
    },
    onSuccess: refresh,
  });
}

export function useCancel(job: Job) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/api/v1/jobs/{job_id}/cancel", { params: { path: { job_id: job.job_id } } }),
      ),
    onSuccess: refresh,
  });
}

/** Undoes a job by a job of its own, which is the answer. */
export function useRollBack(job: Job) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/api/v1/jobs/{job_id}/rollback", { params: { path: { job_id: job.job_id } } }),
      ),
    onSuccess: refresh,
  });
}
