import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { inboxQuery } from "../../api/inbox";
import { recentJobsQuery } from "../../api/queries";
import { statusQuery } from "../../api/status";
import type { InboxEntry, Job, TableState, TableStatus } from "../../api/types";
import { StatusBadge } from "../../components/badges";
import { INBOX_KINDS } from "../../components/InboxList";
import { Sparkline } from "../../components/Sparkline";
import { Loading } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { TableLink } from "../../components/TableLink";
import { TimeAgo } from "../../components/TimeAgo";
import { capitalize, formatCount } from "../../lib/format";
import { findPair, proofOf, sayPair } from "../../lib/pair";
import { RULE_WORDS } from "../../lib/words";
import { sayOutcome } from "../../components/JobList";

const SHOWN = 5;
/** About that of a full list: what is below it stays below the window. */
const LIST_HEIGHT = 640;
const WRONG: readonly TableState[] = ["unreadable", "damaged", "paused", "not_covered", "observed"];
const IN_HAND: readonly TableState[] = ["being_maintained", "due", "waiting"];

/** What is wrong, what is being done about it, and what was done today. */
export interface Ranks {
  wrong: TableStatus[];
  /** Matters of no single table: a policy, a catalog, a pool. */
  others: InboxEntry[];
  inHand: TableStatus[];
  done: Job[];
}

export function rank(statuses: TableStatus[], inbox: InboxEntry[], jobs: Job[]): Ranks {
  const wrong = statuses.filter((one) => WRONG.includes(one.state) || one.needs_person);
  const named = new Set(wrong.map(({ table }) => table));
  return {
    wrong,
    // The state of each table says "only observed" already.
    others: inbox.filter(
      ({ kind, table }) => kind !== "observed" && (table === null || !named.has(table)),
    ),
    inHand: statuses
      .filter((one) => IN_HAND.includes(one.state) && !one.needs_person)
      .sort((a, b) => IN_HAND.indexOf(a.state) - IN_HAND.indexOf(b.state)),
    done: jobs.filter(({ state }) => state === "succeeded"),
  };
}

interface RowProps {
  badge: ReactNode;
  head: ReactNode;
  aside?: ReactNode;
  words: ReactNode;
  spark?: ReactNode;
}

function Row({ badge, head, aside, words, spark }: RowProps) {
  return (
    <li className="rank-row">
      <span className="rank-badge">{badge}</span>
      <span className="rank-text">
        <span className="row row-apart">
          {head}
          <span className="dim">{aside}</span>
        </span>
        <span className="dim one-line">{words}</span>
      </span>
      <span className="rank-spark">{spark}</span>
    </li>
  );
}

interface GroupProps {
  title: string;
  total: number;
  shown: number;
  /** There are more than were asked for. */
  isPart?: boolean;
  none: string;
  /** Where all of them are. */
  all: ReactNode;
  children: ReactNode;
}

function Group({ title, total, shown, isPart = false, none, all, children }: GroupProps) {
  return (
    <section className="stack-tight">
      <h3>
        {title} <span className="dim">{formatCount(total) + (isPart ? "+" : "")}</span>
      </h3>
      {total === 0 ? <p className="dim">{none}</p> : <ol className="ranks">{children}</ol>}
      {(total > shown || isPart) && (
        <p className="dim">
          {formatCount(shown)} shown. {all}
        </p>
      )}
    </section>
  );
}

function TableRow({ status, among }: { status: TableStatus; among: string[] }) {
  return (
    <Row
      badge={<StatusBadge status={status} />}
      head={<TableLink name={status.table} />}
      aside={status.since && <TimeAgo time={status.since} />}
      words={<span title={status.sentence}>{status.sentence}</span>}
      spark={<Sparkline table={status.table} among={among} metric="data_files" />}
    />
  );
}

function DoneRow({ job, among }: { job: Job; among: string[] }) {
  const pair = findPair(job);
  const proof = proofOf(job);
  return (
    <Row
      badge={proof && <span className={`badge badge-${proof.tone}`}>{capitalize(proof.word)}</span>}
      head={
        <Link to="/jobs/$id" params={{ id: job.job_id }}>
          {pair ? sayPair(pair) : RULE_WORDS[job.rule]}
        </Link>
      }
      aside={<TimeAgo time={job.ended_at ?? job.finished_at} />}
      words={
        <>
          <TableLink name={job.table} />:{" "}
          {pair ? RULE_WORDS[job.rule].toLowerCase() : sayOutcome(job)}
        </>
      }
      spark={<Sparkline table={job.table} among={among} metric="data_files" />}
    />
  );
}

/** `isPartOfDay`: more jobs ended than were asked for. */
export function RankList({ ranks, isPartOfDay }: { ranks: Ranks; isPartOfDay: boolean }) {
  const { wrong, others, inHand, done } = ranks;
  const shown = {
    wrong: wrong.slice(0, SHOWN),
    others: others.slice(0, SHOWN),
    inHand: inHand.slice(0, SHOWN),
    done: done.slice(0, SHOWN),
  };
  const among = [
    ...new Set([...shown.wrong, ...shown.inHand, ...shown.done].map(({ table }) => table)),
  ].sort();
  return (
    <div className="stack">
      <Group
        title="Wrong"
        total={wrong.length + others.length}
        shown={shown.wrong.length + shown.others.length}
        none="Nothing needs a person."
        all={
          wrong.length > SHOWN ? (
            <Link to="/tables">All tables, the worst first</Link>
          ) : (
            <Link to="/inbox">Open the inbox</Link>
          )
        }
      >
        {shown.wrong.map((status) => (
          <TableRow key={status.table} status={status} among={among} />
        ))}
        {shown.others.map((entry) => (
          <Row
            key={entry.kind + entry.subject + entry.sentence}
            badge={
              <span className={`badge ${INBOX_KINDS[entry.kind].tone}`}>
                {INBOX_KINDS[entry.kind].label}
              </span>
            }
            head={
              entry.table === null ? (
                <Link to="/inbox">{entry.subject}</Link>
              ) : (
                <TableLink name={entry.table} />
              )
            }
            aside={entry.since && <TimeAgo time={entry.since} />}
            words={<span title={entry.sentence}>{entry.sentence}</span>}
          />
        ))}
      </Group>
      <Group
        title="Being done"
        total={inHand.length}
        shown={shown.inHand.length}
        none="No table is due for maintenance."
        all={<Link to="/tables">All tables, the worst first</Link>}
      >
        {shown.inHand.map((status) => (
          <TableRow key={status.table} status={status} among={among} />
        ))}
      </Group>
      <Group
        title="Done in 24 hours"
        total={done.length}
        shown={shown.done.length}
        isPart={isPartOfDay}
        none="No job succeeded in the last 24 hours."
        all={
          <Link to="/jobs" search={{ range: "24h", state: "succeeded" }}>
            All jobs of the last 24 hours
          </Link>
        }
      >
        {shown.done.map((job) => (
          <DoneRow key={job.job_id} job={job} among={among} />
        ))}
      </Group>
    </div>
  );
}

/** The answer to "what is wrong, what is being done, what was done", the most urgent first. */
export function Ranking() {
  const status = useQuery(statusQuery).data;
  const inbox = useQuery(inboxQuery).data;
  const jobs = useQuery(recentJobsQuery).data;
  return (
    <Panel title="Now" aside={<Link to="/inbox">Open the inbox</Link>}>
      {status && inbox && jobs ? (
        <RankList
          ranks={rank(status.items, inbox.items, jobs.items)}
          isPartOfDay={jobs.total > jobs.items.length}
        />
      ) : (
        <Loading label="what is wrong" height={LIST_HEIGHT} />
      )}
    </Panel>
  );
}
