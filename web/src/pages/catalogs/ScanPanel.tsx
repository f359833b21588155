import type { CatalogOut } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Panel } from "../../components/Panel";
import { TimeAgo } from "../../components/TimeAgo";
import { formatBytes, formatCount, formatDuration, UNKNOWN } from "../../lib/format";

function sayReachable({ is_reachable: isReachable }: CatalogOut): string {
  if (isReachable === null) return "Not scanned yet";
  return isReachable ? "Yes" : "No";
}

function ScanCells({ scan }: { scan: CatalogOut["scans"][number] | undefined }) {
  if (scan === undefined) return <td colSpan={6}>{UNKNOWN}</td>;
  return (
    <>
      <td>
        <TimeAgo time={scan.started_at} />
        {!scan.is_complete && <div className="dim">incomplete</div>}
      </td>
      <td className="num">{formatDuration(scan.seconds)}</td>
      <td className="num">{formatCount(scan.measured)}</td>
      <td className="num">{formatCount(scan.unchanged)}</td>
      <td className="num">
        {formatCount(scan.manifests_read)}{" "}
        <span className="dim">of {formatCount(scan.manifests_read + scan.manifests_reused)}</span>
      </td>
      <td className="num">{formatBytes(scan.bytes_read)}</td>
    </>
  );
}

/** Whether each catalog answers, what its last scan cost, and how far scans are behind. */
export function ScanPanel({ catalogs }: { catalogs: CatalogOut[] }) {
  return (
    <Panel title="Scans">
      <Grid
        label="Scans of the catalogs"
        headings={[
          "Catalog",
          "Reachable",
          "Last scan",
          { figures: "Took" },
          { figures: "Tables read" },
          { figures: "Unchanged" },
          { figures: "Manifests read" },
          { figures: "Bytes read" },
          "Oldest measurement",
          { figures: "Behind" },
        ]}
      >
        {catalogs.map((catalog) => (
          <tr key={catalog.name}>
            <th scope="row">{catalog.name}</th>
            <td>{sayReachable(catalog)}</td>
            <ScanCells scan={catalog.scans[0]} />
            <td>
              <TimeAgo time={catalog.oldest_measured_at} />
            </td>
            <td className="num">
              {catalog.behind_seconds === 0 ? "no" : formatDuration(catalog.behind_seconds)}
            </td>
          </tr>
        ))}
      </Grid>
    </Panel>
  );
}
