import type { ComponentType } from "react";
import type { TableDetail, TablePath } from "../../api/types";
import type { TableAddress, TableTab } from "../../lib/addresses";
import { Activity } from "./activity/Activity";
import { Metadata, WorstPartitions } from "./files/Contents";
import { OrphanPanel } from "./files/OrphanPanel";
import { PartitionMap } from "./files/PartitionMap";
import { JobsOfTable } from "./jobs/JobsOfTable";
import { PlanPanel } from "./jobs/PlanPanel";
import { Answers } from "./overview/Answers";
import { HistoryChart } from "./overview/HistoryChart";
import { ImpactPanel } from "./files/ImpactPanel";
import { KeyFigures } from "./overview/KeyFigures";
import { SizeHistogram } from "./overview/SizeHistogram";
import { GoverningPolicy } from "./policy/GoverningPolicy";
import { PinPanel } from "./snapshots/PinPanel";
import { SnapshotPanel } from "./snapshots/SnapshotPanel";
import { Upkeep } from "./snapshots/Upkeep";

export interface TabProps {
  table: TableDetail;
  path: TablePath;
  address: TableAddress;
  onChange: (change: TableAddress) => void;
}

function Overview({ table, path, address, onChange }: TabProps) {
  const { metric = "average_file_size_bytes", range = "24h" } = address;
  return (
    <>
      <Answers table={table} />
      <KeyFigures table={table} />
      <div className="columns">
        <SizeHistogram table={table} />
        <HistoryChart
          table={table.table}
          path={path}
          metric={metric}
          range={range}
          onChange={onChange}
        />
      </div>
    </>
  );
}

function Jobs({ table, path }: TabProps) {
  return (
    <>
      <PlanPanel path={path} />
      <JobsOfTable table={table.table} />
    </>
  );
}

function Files({ table, path }: TabProps) {
  return (
    <>
      <OrphanPanel path={path} />
      <PartitionMap table={table} path={path} />
      <div className="columns">
        <WorstPartitions path={path} />
        <div className="stack">
          <ImpactPanel table={table} />
          <Metadata table={table} />
        </div>
      </div>
    </>
  );
}

function Snapshots({ table, path }: TabProps) {
  return (
    <>
      <SnapshotPanel table={table.table} path={path} />
      <div className="columns">
        <PinPanel table={table.table} path={path} />
        <Upkeep table={table} />
      </div>
    </>
  );
}

/** The tabs of a table's page, in their order. */
export const TABS: Record<TableTab, { label: string; Content: ComponentType<TabProps> }> = {
  overview: { label: "Overview", Content: Overview },
  activity: {
    label: "Activity",
    Content: ({ table, path }) => <Activity table={table.table} path={path} />,
  },
  jobs: { label: "Jobs", Content: Jobs },
  files: { label: "Files", Content: Files },
  snapshots: { label: "Snapshots", Content: Snapshots },
  policy: { label: "Policy", Content: ({ table }) => <GoverningPolicy table={table} /> },
};
