import type { Finding, TableSummary } from "../api/types";
import { capitalize, splitFirstSentence } from "../lib/format";
import { humanize } from "../lib/words";

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

/** What is found in one line: the worst, and how many others; all of it in the title. */
export function FindingLine({ table }: { table: TableSummary }) {
  const { fault, findings, reason } = table;
  if (fault)
    return (
      <span className="one-line" title={fault.reason}>
        {fault.reason}
      </span>
    );
  const [worst, ...others] = findings;
  if (!worst) return <span className="dim one-line">{capitalize(reason) || "Nothing found"}</span>;
  const every = findings.map(sayFinding).join("\n");
  if (!findings.some((finding) => finding.is_actionable))
    return (
      <span className="dim one-line" title={every}>
        {capitalize(reason) || sayFinding(worst)}
      </span>
    );
  return (
    <span className="one-line" title={every}>
      {others.length > 0 && <span className="dim">+{others.length} </span>}
      {splitFirstSentence(sayFinding(worst))[0]}
    </span>
  );
}
