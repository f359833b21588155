import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "../../api/types";
import { EventFields } from "../../components/EventFields";
import { Grid } from "../../components/Grid";
import { TableLink } from "../../components/TableLink";
import { TimeAgo } from "../../components/TimeAgo";
import { UNKNOWN } from "../../lib/format";
import { humanize } from "../../lib/words";

/** Entries of the audit log, newest first. */
export function AuditList({ entries }: { entries: AuditEntry[] }) {
  return (
    <Grid
      label="Audit log, newest first"
      headings={["What", "By", "Table", "Details", { figures: "When" }]}
    >
      {entries.map((entry) => (
        <tr key={entry.sequence}>
          <th scope="row">
            {entry.job_id ? (
              <Link to="/jobs/$id" params={{ id: entry.job_id }}>
                {humanize(entry.deed)}
              </Link>
            ) : (
              humanize(entry.deed)
            )}
          </th>
          <td>{entry.actor}</td>
          <td>
            {entry.table === null ? (
              UNKNOWN
            ) : (
              <span className="table-name">
                <TableLink name={entry.table} />
              </span>
            )}
          </td>
          <td className="words">
            <EventFields fields={entry.fields} />
          </td>
          <td className="num">
            <TimeAgo time={entry.at} />
          </td>
        </tr>
      ))}
    </Grid>
  );
}
