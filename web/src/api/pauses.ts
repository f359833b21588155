import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { carryOut, client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";

/** The scope of all tables. */
export const EVERYTHING = "*";

/** Every pause in force, also of single tables, and the jobs that still run under one. */
export const pausesQuery = queryOptions({
  queryKey: ["pauses"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/pauses", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});

/** A pause concerns the verdicts of many tables: everything is read again. */
function useReadAgain(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries();
}

export function usePauseScope(scope: string, cancel: boolean) {
  const readAgain = useReadAgain();
  return useMutation({
    mutationFn: (reason: string) =>
      unwrap(client.POST("/api/v1/pauses", { body: { scope, reason, cancel, drain: false } })),
    onSuccess: readAgain,
  });
}

export function useResumeScope(scope: string) {
  const readAgain = useReadAgain();
  return useMutation({
    mutationFn: () => carryOut(client.DELETE("/api/v1/pauses", { params: { query: { scope } } })),
    onSuccess: readAgain,
  });
}
