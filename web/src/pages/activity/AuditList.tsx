import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "../../api/types";
import { EventFields } from "../../components/EventFields";
import { TableLink } from "../../components/TableLink";
import { TimeAgo } from "../../components/TimeAgo";
import { groupDeeds, sayEvent, type Deed } from "../../lib/eventWords";
import { UNKNOWN } from "../../lib/format";
import { formatClock } from "../../lib/time";

/** The entries of the log behind one line, with all their fields. */
function Details({ entries }: { entries: AuditEntry[] }) {
  return (
    <details>
      <summary>Details</summary>
      <ol className="timeline">
        {entries.map((entry) => (
          <li key={entry.sequence}>
            <span className="num dim">{formatClock(entry.at)}</span>
            <div>
              {sayEvent(entry.deed, entry.fields)} <span className="dim">by {entry.actor}</span>
              <EventFields fields={entry.fields} />
            </div>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Line({ deed: { entries, words, by } }: { deed: Deed }) {
  const [newest] = entries;
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className="words cell-wide">
        {newest.job_id ? (
          <Link to="/jobs/$id" params={{ id: newest.job_id }}>
            {words}
          </Link>
        ) : (
          words
        )}
        <Details entries={entries} />
      </th>
      <td role="cell" className="cell-wide">
        {newest.table === null ? (
          UNKNOWN
        ) : (
          <span className="table-name">
            <TableLink name={newest.table} />
          </span>
        )}
      </td>
      <td role="cell" className="cell-two" data-label="By">
        {by}
      </td>
      <td role="cell" className="num" data-label="When">
        <TimeAgo time={newest.at} />
      </td>
    </tr>
  );
}

/** What was done, the newest first: a line for each job, its steps behind "Details". */
export function AuditList({ entries }: { entries: AuditEntry[] }) {
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label="Audit log, newest first">
      <table className="grid grid-cards" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {["What", "Table", "By"].map((heading) => (
              <th key={heading} scope="col" role="columnheader">
                {heading}
              </th>
            ))}
            <th scope="col" role="columnheader" className="num">
              When
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {groupDeeds(entries).map((deed) => (
            <Line key={deed.entries[0].sequence} deed={deed} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
