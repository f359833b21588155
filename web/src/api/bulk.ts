import { useMutation, useQueryClient } from "@tanstack/react-query";
import { RULE_WORDS } from "../lib/words";
import { carryOut, client, unwrap } from "./client";
import type { TableSummary } from "./types";

/** What can be asked of several tables at once; a pause has a reason. */
export type TableRequest =
  { verb: "measure" | "run" | "resume" } | { verb: "pause"; reason: string };

/** What became of a request on one table. */
export interface Answer {
  table: string;
  words: string;
  isRefused: boolean;
}

const AT_ONCE = 4;

async function ask(
  { catalog, namespace, name }: TableSummary,
  request: TableRequest,
): Promise<string> {
  const at = { params: { path: { catalog, namespace, table: name } } };
  switch (request.verb) {
    case "measure":
      await unwrap(client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/measure", at));
      return "Measured";
    case "run": {
      const { jobs } = await unwrap(
        client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/run", at),
      );
      return jobs.map((job) => RULE_WORDS[job.rule]).join(", ") || "Nothing is worth doing";
    }
    case "pause": {
      const body = { reason: request.reason };
      await unwrap(
        client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/pause", { ...at, body }),
      );
      return "Paused";
    }
    case "resume":
      await carryOut(client.POST("/api/v1/tables/{catalog}/{namespace}/{table}/resume", at));
      return "Resumed";
  }
}

/** Asks the same of each table, a few at a time; a refusal of one stops no other. */
export async function askEach(tables: TableSummary[], request: TableRequest): Promise<Answer[]> {
  const answers: Answer[] = [];
  const waiting = tables.entries();
  const work = async () => {
    for (const [index, table] of waiting) {
      const [words, isRefused] = await ask(table, request).then(
        (said) => [said, false] as const,
        (error: unknown) => [error instanceof Error ? error.message : String(error), true] as const,
      );
      answers[index] = { table: table.table, words, isRefused };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

export function useAskEach(tables: TableSummary[]) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (request: TableRequest) => askEach(tables, request),
    onSettled: () => queries.invalidateQueries(),
  });
}
