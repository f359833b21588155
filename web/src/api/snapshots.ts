import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { carryOut, client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";
import type { TablePath } from "./types";

const keyOf = (path: TablePath) => ["table", path.catalog, path.namespace, path.table];

export const snapshotsQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...keyOf(path), "snapshots"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/snapshots", {
          params: { path },
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

/** What the next run of expiry would remove. */
export const expiryQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...keyOf(path), "expiry"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/expiry", {
          params: { path },
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

export const pinsQuery = (path: TablePath) =>
  queryOptions({
    queryKey: [...keyOf(path), "pins"],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/tables/{catalog}/{namespace}/{table}/pins", {
          params: { path },
          signal,
        }),
      ),
    refetchInterval: TABLES_EVERY_MS,
  });

export interface NewPin {
  name: string;
  snapshot_id: string;
  /** RFC 3339; null: until it is removed. */
  until: string | null;
}

export function usePin(path: TablePath) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (pin: NewPin) =>
      unwrap(
        client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/pins", {
          params: { path },
          body: pin,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(path) }),
  });
}

export function useUnpin(path: TablePath) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      carryOut(
        client.DELETE("/api/v1/tables/{catalog}/{namespace}/{table}/pins/{name}", {
          params: { path: { ...path, name } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(path) }),
  });
}
