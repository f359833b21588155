import { infiniteQueryOptions, queryOptions, useMutation } from "@tanstack/react-query";
import type { SchemaNode } from "../lib/completion";
import { client, unwrap } from "./client";
import { TABLES_EVERY_MS } from "./fleet";
import type { FleetPreview, TablePath } from "./types";

const VERSIONS_PAGE = 20;
const GOVERNED_PAGE = 50;
const PREVIEW_PAGE = 200;

export const policiesQuery = queryOptions({
  queryKey: ["policies"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/policies", { signal })),
  refetchInterval: TABLES_EVERY_MS,
});

/** Pages of names of the tables that a policy file speaks for. */
export const governedQuery = (name: string) =>
  infiniteQueryOptions({
    queryKey: ["policies", "tables", name],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET("/api/v1/policies/tables", {
          params: {
            query: { name, limit: GOVERNED_PAGE, ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
  });

export const policySchemaQuery = queryOptions({
  queryKey: ["policies", "schema"],
  queryFn: async ({ signal }) =>
    // Each node has the keys of JSON Schema, which the API's own document does not describe.
    (await unwrap(client.GET("/api/v1/policies/schema", { signal }))) as SchemaNode,
  staleTime: Infinity,
});

export const versionsQuery = infiniteQueryOptions({
  queryKey: ["policies", "versions"],
  queryFn: ({ pageParam, signal }) =>
    unwrap(
      client.GET("/api/v1/policies/versions", {
        params: { query: { limit: VERSIONS_PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
        signal,
      }),
    ),
  initialPageParam: "",
  getNextPageParam: (page) => page.next_cursor,
});

/** What a version has differently from the one that it followed. */
export const policyDiffQuery = (before: string, after: string) =>
  queryOptions({
    queryKey: ["policies", "diff", before, after],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/policies/versions/diff", {
          params: { query: { before, after } },
          signal,
        }),
      ),
  });

export const effectivePolicyQuery = (path: TablePath) =>
  queryOptions({
    queryKey: ["policies", "effective", path.catalog, path.namespace, path.table],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/policies/effective/{catalog}/{namespace}/{table}", {
          params: { path },
          signal,
        }),
      ),
  });

/** A policy for a table from its own history; it is made anew each time. */
export const suggestedPolicyQuery = (path: TablePath) =>
  queryOptions({
    queryKey: ["policies", "suggested", path.catalog, path.namespace, path.table],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET("/api/v1/policies/suggested/{catalog}/{namespace}/{table}", {
          params: { path },
          signal,
        }),
      ),
    // A draft that is being written must not be replaced under the hand.
    staleTime: Infinity,
    gcTime: 0,
  });

export function useValidatePolicy() {
  return useMutation({
    mutationFn: (yaml: string) =>
      unwrap(client.POST("/api/v1/policies/validate", { body: { yaml } })),
  });
}

export interface Draft {
  yaml: string;
  /** The file that it replaces, or a new one; empty: a new one. */
  name: string;
}

/** Tries a draft out on a page of the fleet, or on the page after one; nothing is stored. */
export function useTryOut() {
  return useMutation({
    mutationFn: async ({ draft, after }: { draft: Draft; after?: FleetPreview }) => {
      const query = {
        limit: PREVIEW_PAGE,
        ...(after?.next_cursor && { cursor: after.next_cursor }),
      };
      const body = { yaml: draft.yaml, ...(draft.name && { name: draft.name }) };
      const page = await unwrap(
        client.POST("/api/v1/policies/preview", { params: { query }, body }),
      );
      if (after === undefined) return page;
      return {
        ...page,
        items: [...after.items, ...page.items],
        looked_at: after.looked_at + page.looked_at,
        unmeasured: after.unmeasured + page.unmeasured,
        gb_hours: after.gb_hours + page.gb_hours,
      };
    },
  });
}
