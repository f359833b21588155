import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Job } from "../api/types";
import { capitalize, formatCount } from "../lib/format";
import { findPair, proofOf } from "../lib/pair";
import { formatExact, formatTime } from "../lib/time";
import { RULE_WORDS } from "../lib/words";

/** The proof of a job as a stamp. */
export function Stamp({ job }: { job: Job }) {
  const proof = proofOf(job);
  if (!proof) return null;
  return <span className={`stamp stamp-${proof.tone}`}>{capitalize(proof.word)}</span>;
}

function Bar({ label, value, most }: { label: string; value: number; most: number }) {
  return (
    <div className="pair-row">
      <span className="dim">{label}</span>
      <span className="pair-track">
        <span
          className={`pair-bar pair-${label.toLowerCase()}`}
          style={{ width: `${(value / Math.max(1, most)) * 100}%` }}
        />
      </span>
      <span className="num">{formatCount(value)}</span>
    </div>
  );
}

interface HeadlineProps {
  job: Job;
  /** On a page of another thing, the job is linked. */
  isLinked?: boolean;
  children?: ReactNode;
}

/** What a finished job achieved: a pair of numbers, its proof, and both as bars. */
export function Headline({ job, isLinked = false, children }: HeadlineProps) {
  const pair = findPair(job);
  const ended = job.ended_at ?? job.finished_at;
  if (!pair || !ended) return null;
  const most = Math.max(pair.before, pair.after);
  const what = RULE_WORDS[job.rule];
  return (
    <section className="panel headline" aria-label="What the job achieved">
      <div className="stack-tight">
        <p className="headline-pair">
          {formatCount(pair.before)} → {formatCount(pair.after)} <small>{pair.unit}</small>
        </p>
        <p className="dim">
          <time dateTime={ended} title={formatExact(ended)}>
            {formatTime(ended)}
          </time>
          ,{" "}
          {isLinked ? (
            <Link to="/jobs/$id" params={{ id: job.job_id }}>
              {what}
            </Link>
          ) : (
            what
          )}
        </p>
        {children}
      </div>
      <div className="pair-bars">
        <Bar label="Before" value={pair.before} most={most} />
        <Bar label="After" value={pair.after} most={most} />
      </div>
      <Stamp job={job} />
    </section>
  );
}
