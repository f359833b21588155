import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { catalogsQuery, policiesQuery } from "../../api/queries";
import { Notice } from "../../components/notices";
import { ProblemList } from "../../components/ProblemList";
import { TimeAgo } from "../../components/TimeAgo";

/** What is wrong beyond single tables: catalogs that cannot be listed, policy files that are not in force. */
export function FleetAlerts() {
  const catalogs = useQuery(catalogsQuery).data ?? [];
  const problems = useQuery(policiesQuery).data?.problems ?? [];
  return (
    <>
      {catalogs
        .filter((catalog) => catalog.faults.length > 0)
        .map((catalog) => (
          <Notice
            key={catalog.name}
            tone="critical"
            title={`Catalog ${catalog.name} cannot be listed completely`}
          >
            <ul className="findings">
              {catalog.faults.map((fault) => (
                <li key={fault.namespace + fault.reason}>
                  {fault.namespace && <span className="mono">{fault.namespace}: </span>}
                  {fault.reason}{" "}
                  <span className="dim">
                    (seen <TimeAgo time={fault.seen_at} />)
                  </span>
                </li>
              ))}
            </ul>
            <p className="dim">
              Its tables are shown as they were last seen; other catalogs go on.
            </p>
          </Notice>
        ))}
      {problems.length > 0 && (
        <Notice
          tone="watch"
          title="A policy file has problems; the last good set of policies stays in force"
        >
          <ProblemList problems={problems} />
          <Link to="/policies">To the policies</Link>
        </Notice>
      )}
    </>
  );
}
