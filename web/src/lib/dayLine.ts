import type { Job, Queue, TableStatus } from "../api/types";
import { formatDuration } from "./format";
import { sayPair, findPair } from "./pair";
import { formatTime } from "./time";
import { isFinal, RULE_WORDS, STATE_WORDS } from "./words";

const HOUR_MS = 3_600_000;
/** So far back and so far ahead. */
export const REACH_MS = 6 * HOUR_MS;
export const MOST_LINES = 10;
/** A bar of a short job can still be seen. */
const LEAST_PERCENT = 0.6;

export interface DayBar {
  kind: "succeeded" | "failed" | "running" | "planned" | "waiting";
  left: number;
  width: number;
  words: string;
  job: string | null;
}

export interface DayRow {
  table: string;
  bars: DayBar[];
}

/** Percent of the width, of which now is the middle. */
export const placeOf = (at: number, now: number): number =>
  ((at - now + REACH_MS) / (2 * REACH_MS)) * 100;

function kindOf(job: Job): DayBar["kind"] {
  if (!isFinal(job.state)) return "running";
  return job.state === "succeeded" ? "succeeded" : "failed";
}

function drawJob(job: Job, now: number): DayBar | null {
  const ended = job.ended_at ?? job.finished_at;
  const from = Date.parse(job.started_at ?? job.created_at);
  const expected = job.progress.ends_at === null ? now : Date.parse(job.progress.ends_at);
  const to = ended === null ? Math.max(now, expected) : Date.parse(ended);
  if (to < now - REACH_MS) return null;
  const left = Math.max(0, placeOf(from, now));
  const pair = findPair(job);
  const done = pair && isFinal(job.state) ? `, ${sayPair(pair)}` : "";
  return {
    kind: kindOf(job),
    left,
    width: Math.max(LEAST_PERCENT, Math.min(100, placeOf(to, now)) - left),
    words: `${RULE_WORDS[job.rule]}, ${formatTime(new Date(from).toISOString())}: ${STATE_WORDS[job.state].toLowerCase()}${done}`,
    job: job.job_id,
  };
}

/** What starts next, and what waits for its window, its cooldown or its turn. */
function drawAhead(queue: Queue | undefined, statuses: TableStatus[], now: number) {
  const bars = new Map<string, DayBar>();
  const add = (table: string, kind: DayBar["kind"], at: number, seconds: number, words: string) => {
    const left = placeOf(at, now);
    if (left >= 100 || bars.has(table)) return;
    const width = (seconds / (2 * REACH_MS)) * 100_000;
    bars.set(table, { kind, left, width: Math.max(LEAST_PERCENT, width), words, job: null });
  };
  for (const { table, rule, cost, admission } of queue?.items ?? []) {
    const about = `${RULE_WORDS[rule]}, about ${formatDuration(cost.duration_seconds)}`;
    const at = admission.next_at === null ? now : Math.max(now, Date.parse(admission.next_at));
    if (admission.is_admitted)
      add(table, "planned", now, cost.duration_seconds, `${about}: starts next`);
    else add(table, "waiting", at, cost.duration_seconds, `${about}: ${admission.sentence}`);
  }
  for (const { table, state, until, sentence } of statuses)
    if (state === "waiting" && until !== null && Date.parse(until) > now)
      add(table, "waiting", Date.parse(until), 0, `${formatTime(until)}: ${sentence}`);
  return bars;
}

/** The jobs of six hours, and what is known of the next six, a row for each table. */
export function layOutDay(
  jobs: Job[],
  queue: Queue | undefined,
  statuses: TableStatus[],
  now: number,
): DayRow[] {
  const rows = new Map<string, DayBar[]>();
  for (const job of jobs) {
    const bar = drawJob(job, now);
    if (bar) rows.set(job.table, [...(rows.get(job.table) ?? []), bar]);
  }
  for (const [table, bar] of drawAhead(queue, statuses, now))
    rows.set(table, [...(rows.get(table) ?? []), bar]);
  return [...rows].map(([table, bars]) => ({ table, bars })).slice(0, MOST_LINES);
}
