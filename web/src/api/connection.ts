import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { prefix } from "../lib/prefix";

const ASK_EVERY_MS = 2_000;
const ANSWER_WITHIN_MS = 2_000;

/** Whether the daemon answers at all; the browser's cache must not answer for it. */
export async function isAnswering(signal?: AbortSignal): Promise<boolean> {
  const deadline = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const response = await fetch(`${prefix}/livez`, {
      cache: "no-store",
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    // An answer that is not read to its end holds its connection.
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

export const connectionQuery = queryOptions({
  queryKey: ["connection"],
  queryFn: async ({ signal }) => ({ isUp: await isAnswering(signal) }),
  refetchInterval: ASK_EVERY_MS,
  networkMode: "always",
  staleTime: 0,
  retry: false,
});

function subscribeToNetwork(listener: () => void): () => void {
  window.addEventListener("online", listener);
  window.addEventListener("offline", listener);
  return () => {
    window.removeEventListener("online", listener);
    window.removeEventListener("offline", listener);
  };
}

export type Connection = "up" | "down" | "offline";

/** Asks every two seconds whether the daemon answers; when it is back, all data reloads. */
export function useConnection(): Connection {
  const isOnline = useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
  const { data } = useQuery(connectionQuery);
  const queries = useQueryClient();
  const state = !isOnline ? "offline" : data?.isUp === false ? "down" : "up";
  const before = useRef(state);
  useEffect(() => {
    if (before.current !== "up" && state === "up") {
      void queries.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] !== connectionQuery.queryKey[0],
      });
    }
    before.current = state;
  }, [state, queries]);
  return state;
}
