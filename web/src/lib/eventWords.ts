import type { AuditEntry } from "../api/types";
import { capitalize, formatCount, pluralize } from "./format";
import { humanize } from "./words";

type Fields = Record<string, unknown>;

const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const endSentence = (text: string) => text.replace(/\.?$/, ".");

const PARTS: Record<string, string> = {
  before: "A tag keeps the present state, so that the job can be undone.",
  main: "The maintenance itself has started.",
  after: "Some rows of the result are read, to see that they can be.",
};

function sayResult(result: unknown): string {
  const fields = (result ?? {}) as Fields;
  const before = numberOf(fields.rewritten_data_files_count);
  const after = numberOf(fields.added_data_files_count);
  return before === null || after === null
    ? "The statement has ended."
    : `${formatCount(before)} data files were rewritten into ${formatCount(after)}.`;
}

function sayProgress(fields: Fields): string {
  const [done, total] = [numberOf(fields.file_groups_done), numberOf(fields.file_groups_total)];
  const tasks = [numberOf(fields.tasks_done), numberOf(fields.tasks_total)];
  if (done !== null && total !== null)
    return `${formatCount(done)} of ${pluralize(total, "file group")} done.`;
  return tasks[0] === null
    ? "At work."
    : `${formatCount(tasks[0])} of ${formatCount(tasks[1])} tasks done.`;
}

/** What an event of a job means, in words; the figures are beside it. */
export function sayEvent(name: string, fields: Fields): string {
  switch (name) {
    case "job.submitted":
      return "The daemon gave the job to Spark.";
    case "spark.submitted":
      return "Spark has the statements of the job.";
    case "application.started":
      return "Spark has started.";
    case "statement.started":
      return PARTS[textOf(fields.part)] ?? "A statement has started.";
    case "statement.finished":
      return sayResult(fields.result);
    case "spark.progress":
      return sayProgress(fields);
    case "spark.finished":
      return textOf(fields.message)
        ? `Spark failed: ${textOf(fields.message)}`
        : "Spark has finished.";
    case "canary.read": {
      const files = numberOf(fields.files) ?? 0;
      const problems = Array.isArray(fields.problems) ? fields.problems.length : 0;
      const read = `${pluralize(files, "new file was", "new files were")} read back`;
      return problems === 0
        ? `${read} without a problem.`
        : `${read}: ${pluralize(problems, "problem")}.`;
    }
    case "job.reviewed":
    case "job.ended": {
      const message = textOf(fields.message);
      const state = capitalize(textOf(fields.state));
      return message ? `${state}: ${endSentence(message)}` : `${state || "Ended"}.`;
    }
    case "job.requested":
      return `Requested because ${endSentence(textOf(fields.reason) || "somebody asked for it")}`;
    default:
      return humanize(name);
  }
}

/** The entries of one job, or one entry of no job, the newest first. */
export interface Deed {
  entries: [AuditEntry, ...AuditEntry[]];
  words: string;
  by: string;
}

const isOfJob = ({ deed }: AuditEntry) => deed.startsWith("job.");

/** One line for each job: how it ended, or else how far it is. */
export function groupDeeds(entries: AuditEntry[]): Deed[] {
  const groups = new Map<string, [AuditEntry, ...AuditEntry[]]>();
  for (const entry of entries) {
    const key = entry.job_id || `entry ${entry.sequence}`;
    const known = groups.get(key);
    if (known) known.push(entry);
    else groups.set(key, [entry]);
  }
  return [...groups.values()].map((group) => {
    const [newest] = group;
    const shown = group.find(isOfJob) ?? newest;
    const requested = group.find(({ deed }) => deed === "job.requested");
    return {
      entries: group,
      words: sayEvent(shown.deed, shown.fields),
      by: newest.job_id ? (requested?.actor ?? "daemon") : newest.actor,
    };
  });
}
