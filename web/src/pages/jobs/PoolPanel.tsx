import { useQuery } from "@tanstack/react-query";
import { poolsQuery } from "../../api/queries";
import type { Pool } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Panel } from "../../components/Panel";
import { TimeAgo } from "../../components/TimeAgo";
import { formatCount } from "../../lib/format";

const UNKNOWN = "–";

/** Why nothing, or not everything, can run in the pool, a sentence each. */
function listProblems({ obstacles, catalogs, restrictions }: Pool): string[] {
  return [
    ...obstacles,
    ...catalogs.flatMap(({ name, error }) => (error === null ? [] : `catalog ${name}: ${error}`)),
    ...restrictions,
  ];
}

export function PoolGrid({ pools }: { pools: Pool[] }) {
  return (
    <Grid
      label="Spark, pools"
      headings={[
        "Pool",
        { figures: "Jobs at once" },
        "Spark",
        "Scala",
        "Java",
        "Iceberg",
        "Reported",
        "Restrictions",
      ]}
    >
      {pools.map((pool) => {
        const problems = listProblems(pool);
        return (
          <tr key={pool.name}>
            <th scope="row">{pool.name}</th>
            <td className="num">{formatCount(pool.max_jobs)}</td>
            <td>{pool.spark ?? UNKNOWN}</td>
            <td>{pool.scala ?? UNKNOWN}</td>
            <td>{pool.java ?? UNKNOWN}</td>
            <td>{pool.iceberg ?? UNKNOWN}</td>
            <td>
              <TimeAgo time={pool.reported_at} />
            </td>
            <td>
              {problems.length === 0 ? (
                "none known"
              ) : (
                <ul className="findings">
                  {problems.map((problem) => (
                    <li key={problem}>{problem}</li>
                  ))}
                </ul>
              )}
            </td>
          </tr>
        );
      })}
    </Grid>
  );
}

/** Where jobs run: what the newest driver of each pool reported. */
export function PoolPanel() {
  const pools = useQuery(poolsQuery).data;
  if (!pools) return null;
  return (
    <Panel title="Spark">
      <PoolGrid pools={pools} />
    </Panel>
  );
}
