import type { InboxEntry, InboxKind } from "../api/types";
import { capitalize } from "../lib/format";
import { InboxAction } from "./InboxAction";
import { Empty } from "./notices";
import { TableLink } from "./TableLink";
import { TimeAgo } from "./TimeAgo";

export const INBOX_KINDS: Record<InboxKind, { label: string; tone: string }> = {
  paused: { label: "Paused by the daemon", tone: "badge-critical" },
  unreadable: { label: "Cannot be read", tone: "badge-critical" },
  damaged: { label: "Damaged", tone: "badge-critical" },
  catalog: { label: "Catalog not listed", tone: "badge-critical" },
  runner: { label: "No job can run", tone: "badge-critical" },
  failing: { label: "Keeps failing", tone: "badge-degraded" },
  unmaintained: { label: "Compaction refused", tone: "badge-critical" },
  policy: { label: "Mistake in a policy", tone: "badge-watch" },
  approval: { label: "Waits for approval", tone: "badge-info" },
  shared: { label: "Several names", tone: "badge-watch" },
  observed: { label: "Only observed", tone: "badge-watch" },
};

/** A sentence that begins with a name, such as that of a rule, keeps it as it is written. */
const beginSentence = (text: string) => (/^[a-z]+\s/.test(text) ? capitalize(text) : text);

function Entry({ entry }: { entry: InboxEntry }) {
  const { label, tone } = INBOX_KINDS[entry.kind];
  return (
    <li className="stack-tight">
      <div className="row">
        <span className={`badge ${tone}`}>{label}</span>
        {entry.table === null ? (
          <span className="mono">{entry.subject}</span>
        ) : (
          <TableLink name={entry.table} />
        )}
        {entry.since && (
          <span className="dim">
            <TimeAgo time={entry.since} />
          </span>
        )}
        <InboxAction entry={entry} />
      </div>
      <p className="dim">{beginSentence(entry.sentence)}</p>
    </li>
  );
}

export function InboxList({ entries }: { entries: InboxEntry[] }) {
  if (entries.length === 0)
    return (
      <Empty title="Nothing needs you">
        Tables that the daemon had to pause, lists to approve and mistakes appear here.
      </Empty>
    );
  return (
    <ol className="outlook">
      {entries.map((entry) => (
        <Entry key={entry.kind + entry.subject + entry.sentence} entry={entry} />
      ))}
    </ol>
  );
}
