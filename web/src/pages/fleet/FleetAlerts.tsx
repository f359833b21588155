import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { catalogsQuery } from "../../api/fleet";
import { policiesQuery } from "../../api/queries";
import { Notice } from "../../components/notices";
import { ProblemList } from "../../components/ProblemList";
import { TimeAgo } from "../../components/TimeAgo";

/** Problems beyond single tables: catalogs that cannot be listed, invalid policy files. */
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
              Its tables are shown as last measured. Other catalogs are not affected.
            </p>
          </Notice>
        ))}
      {problems.length > 0 && (
        <Notice
          tone="watch"
          title="A policy file is invalid; the last valid policies stay in force"
        >
          <ProblemList problems={problems} />
          <Link to="/policies">Show the policies</Link>
        </Notice>
      )}
    </>
  );
}
