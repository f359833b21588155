import { useQuery } from "@tanstack/react-query";
import { replicasQuery } from "../../api/fleet";
import type { Replica } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Panel } from "../../components/Panel";

export function ReplicaGrid({ replicas }: { replicas: Replica[] }) {
  return (
    <Grid label="Replicas" headings={["Replica", "Duties"]}>
      {replicas.map(({ name, duties }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>
            {duties
              .map(({ kind, catalog }) =>
                [kind.replaceAll("_", " "), catalog ?? ""].join(" ").trim(),
              )
              .join(", ") || "–"}
          </td>
        </tr>
      ))}
    </Grid>
  );
}

/** The duties of each replica; nothing where there is only one. */
export function Replicas() {
  const replicas = useQuery(replicasQuery).data ?? [];
  if (replicas.length < 2) return null;
  return (
    <Panel title="Replicas">
      <ReplicaGrid replicas={replicas} />
    </Panel>
  );
}
