import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ReportLine } from "../../api/types";
import { Grid } from "../../components/Grid";
import { RescueLink } from "../../components/RescueLink";
import { TableLink } from "../../components/TableLink";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatFactor,
  formatRatio,
  formatSignificant,
} from "../../lib/format";

/** The range of query times, as a factor: 2.5× to 9.1×. */
export function saySlowdown({ slowdown_low: low, slowdown_high: high }: ReportLine): string {
  const [least, most] = [formatFactor(low), formatFactor(high)];
  return least === most ? least : `${least} to ${most}`;
}

/** A waiting time, which may be far below a second. */
export const sayWait = (seconds: number) =>
  seconds < 1 ? `${formatSignificant(seconds * 1000)}\u00a0ms` : formatDuration(seconds);

/** A namespace's name, leading to its tables. */
function NamespaceLink({ name }: { name: string }) {
  const [catalog = "", ...levels] = name.split(".");
  return (
    <Link to="/tables" search={{ catalog, namespace: levels.join(".") }}>
      {name}
    </Link>
  );
}

interface ReportGridProps {
  of: "namespace" | "table";
  lines: ReportLine[];
  total?: ReportLine;
}

/** The lines of the report in figures. */
export function ReportGrid({ of, lines, total }: ReportGridProps) {
  const [model] = lines;
  if (!model) return null;
  const hasMoney = model.cost_per_day !== null;
  const row = (line: ReportLine, name: ReactNode) => (
    <tr key={line.name}>
      <th scope="row">{name}</th>
      {of === "namespace" && <td className="num">{formatCount(line.tables)}</td>}
      <td className="num">{formatCount(line.files)}</td>
      <td className="num">{formatBytes(line.average_file_size_bytes)}</td>
      {line.small.map(({ below_bytes, share }) => (
        <td key={below_bytes} className="num">
          {formatRatio(share)}
        </td>
      ))}
      <td className="num">{saySlowdown(line)}</td>
      <td className="num">{formatCount(Math.round(line.requests_per_day))}</td>
      <td className="num">{formatCount(Math.round(line.requests_saved_per_day))}</td>
      {hasMoney && <td className="num">{formatSignificant(line.cost_per_day ?? 0)}</td>}
      {line.round_trips.map(({ parallel, seconds }) => (
        <td key={parallel} className="num">
          {sayWait(seconds)}
        </td>
      ))}
      {of === "table" && (
        <td>
          <RescueLink table={line.name} />
        </td>
      )}
    </tr>
  );
  return (
    <Grid
      label={of === "namespace" ? "Small files by namespace" : "Tables to compact first"}
      headings={[
        of === "namespace" ? "Namespace" : "Table",
        ...(of === "namespace" ? [{ figures: "Tables" }] : []),
        { figures: "Files" },
        { figures: "Avg file size" },
        ...model.small.map(({ below_bytes }) => ({ figures: `< ${formatBytes(below_bytes)}` })),
        { figures: "Query time" },
        { figures: "Requests/day" },
        { figures: "Avoidable" },
        ...(hasMoney ? [{ figures: "Cost/day" }] : []),
        ...model.round_trips.map(({ parallel }) => ({ figures: `Wait, ${parallel} at once` })),
        ...(of === "table" ? ["Way back"] : []),
      ]}
    >
      {lines.map((line) =>
        row(
          line,
          of === "table" ? <TableLink name={line.name} /> : <NamespaceLink name={line.name} />,
        ),
      )}
      {total && lines.length > 1 && row(total, "All")}
    </Grid>
  );
}
