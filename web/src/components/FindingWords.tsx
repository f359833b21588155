import type { Fault, Finding } from "../api/types";
import { capitalize, splitFirstSentence } from "../lib/format";
import { humanize } from "../lib/words";
import { TimeAgo } from "./TimeAgo";

/** A finding in words; the daemon writes the sentence. */
export function sayFinding(finding: Finding): string {
  return (
    capitalize(finding.sentence) ||
    `${humanize(finding.metric)} is ${finding.observed} (limit ${finding.bound})`
  );
}

export function FindingList({ findings }: { findings: Finding[] }) {
  return (
    <ul className="findings">
      {findings.map((finding) => (
        <li key={finding.metric + finding.severity}>
          {sayFinding(finding)}
          {!finding.is_actionable && (
            <span className="dim"> (maintenance would not change it)</span>
          )}
        </li>
      ))}
    </ul>
  );
}

interface FindingWordsProps {
  findings: Finding[];
  fault: Fault | null;
  reason: string;
}

/** The worst finding in one sentence; the others are collapsed. */
export function FindingWords({ findings, fault, reason }: FindingWordsProps) {
  if (fault) {
    return (
      <>
        {fault.reason}{" "}
        <span className="dim">
          (seen <TimeAgo time={fault.seen_at} />)
        </span>
      </>
    );
  }
  const [worst, ...others] = findings;
  if (!worst) return <span className="dim">{capitalize(reason) || "Nothing found"}</span>;
  if (!findings.some((finding) => finding.is_actionable)) {
    return (
      <span className="dim" title={findings.map(sayFinding).join("\n")}>
        {capitalize(reason) || sayFinding(worst)}
      </span>
    );
  }
  const [first, rest] = splitFirstSentence(sayFinding(worst));
  if (!rest && others.length === 0) return <>{first}</>;
  return (
    <>
      <span title={[worst, ...others].map(sayFinding).join("\n")}>{first}</span>
      <details>
        <summary>{others.length > 0 ? `and ${others.length} more` : "more"}</summary>
        {rest && <p>{rest}</p>}
        <FindingList findings={others} />
      </details>
    </>
  );
}
