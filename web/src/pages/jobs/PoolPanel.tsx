import { useQuery } from "@tanstack/react-query";
import { poolsQuery } from "../../api/fleet";
import type { Pool } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { TimeAgo } from "../../components/TimeAgo";
import { formatCount } from "../../lib/format";

const UNKNOWN = "–";

/** Why nothing can run in a pool, or nothing on a catalog's tables; a sentence each. */
export function listObstacles(pools: Pool[]): string[] {
  return pools.flatMap(({ name, obstacles, catalogs }) => [
    ...obstacles.map((obstacle) => `Pool ${name}: ${obstacle}`),
    ...catalogs.flatMap(({ name: catalog, error }) =>
      error === null ? [] : `Pool ${name}, catalog ${catalog}: ${error}`,
    ),
  ]);
}

function listRestrictions(pools: Pool[]): string[] {
  return pools.flatMap(({ name, restrictions }) =>
    restrictions.map((restriction) => `Pool ${name}: ${restriction}`),
  );
}

export function PoolGrid({ pools }: { pools: Pool[] }) {
  const restrictions = listRestrictions(pools);
  return (
    <>
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
        ]}
      >
        {pools.map((pool) => (
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
          </tr>
        ))}
      </Grid>
      {restrictions.length > 0 && <Sentences of={restrictions} />}
    </>
  );
}

function Sentences({ of: sentences }: { of: string[] }) {
  return (
    <ul className="findings">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

/** Says at the top of the page which pools or catalogs no job can run in. */
export function PoolNotice() {
  const obstacles = listObstacles(useQuery(poolsQuery).data ?? []);
  if (obstacles.length === 0) return null;
  return (
    <Notice tone="watch" title="Spark cannot run all jobs">
      <Sentences of={obstacles} />
    </Notice>
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
