import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { prefix } from "../lib/prefix";
import { carryOut, client, unwrap } from "./client";
import type { Role, Session } from "./types";

const SESSION_EVERY_MS = 60_000;
/** Each role includes those before it. */
const ROLES: readonly Role[] = ["viewer", "operator", "approver", "admin"];

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => unwrap(client.GET("/api/v1/session", { signal })),
  refetchInterval: SESSION_EVERY_MS,
});

/** Where the browser goes to sign in; it comes back to this page. */
export const signInAddress = (page: string): string =>
  `${prefix}/api/v1/session/sign-in?next=${encodeURIComponent(page)}`;

/** The session that the frame of the page has asked for. */
export const useSession = (): Session | undefined =>
  useQuery({ ...sessionQuery, enabled: false }).data;

/** Forget all data: it was read with the rights of the person who was signed in. */
function useForgetAll(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.resetQueries();
}

export function useTokenSignIn() {
  const forget = useForgetAll();
  return useMutation({
    mutationFn: (token: string) => carryOut(client.POST("/api/v1/session", { body: { token } })),
    onSuccess: forget,
  });
}

export function useSignOut() {
  const forget = useForgetAll();
  return useMutation({
    mutationFn: () => carryOut(client.DELETE("/api/v1/session")),
    onSuccess: forget,
  });
}

/** Why the session does not allow something on a table; undefined when it does. */
export function findRefusal(
  session: Session | undefined,
  role: Role,
  table: string,
): string | undefined {
  if (!session?.is_needed) return undefined;
  const held = session.grants
    .filter((grant) => grant.prefixes.some((start) => table.startsWith(start)))
    .map((grant) => ROLES.indexOf(grant.role));
  const best = Math.max(-1, ...held);
  if (best >= ROLES.indexOf(role)) return undefined;
  return `This needs the role ${role}; you have ${ROLES[best] ?? "none"} here`;
}

export const useRefusal = (role: Role, table: string): string | undefined =>
  findRefusal(useSession(), role, table);

/** A place of sums that the session may see: the one asked for, or else its first own one. */
export function findPlace(
  session: Session | undefined,
  catalog: string | undefined,
  namespace: string | undefined,
): { catalog: string | undefined; namespace: string | undefined; isOther: boolean } {
  const asked = [catalog, namespace].filter(Boolean).map((level) => `${level}.`);
  const seen = session?.grants.flatMap((grant) => grant.prefixes).sort() ?? [];
  const first = seen[0];
  if (!session?.is_needed || !first || seen.some((start) => asked.join("").startsWith(start)))
    return { catalog, namespace, isOther: false };
  const [own, ...levels] = first.replace(/\.$/, "").split(".");
  return { catalog: own, namespace: levels.join(".") || undefined, isOther: true };
}
