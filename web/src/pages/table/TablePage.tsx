import { useDocumentTitle } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { jobsQuery, tableQuery } from "../../api/queries";
import type { TableDetail, TablePath } from "../../api/types";
import { JobList } from "../../components/JobList";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { PolicyValues } from "../../components/PolicyValues";
import type { TableAddress } from "../../lib/addresses";
import { pluralize } from "../../lib/format";
import { MODE_WORDS } from "../../lib/words";
import { Activity } from "./activity/Activity";
import { Answers } from "./overview/Answers";
import { Metadata, WorstPartitions } from "./files/Contents";
import { HistoryChart } from "./overview/HistoryChart";
import { ImpactPanel } from "./overview/ImpactPanel";
import { KeyFigures } from "./overview/KeyFigures";
import { OrphanPanel } from "./files/OrphanPanel";
import { PlanPanel } from "./jobs/PlanPanel";
import { SizeHistogram } from "./overview/SizeHistogram";

import { TableHeading } from "./TableHeading";
import { Upkeep } from "./snapshots/Upkeep";

const route = getRouteApi("/tables/$catalog/$namespace/$table");
const PAGE_HEIGHT = 600;
const JOBS_SHOWN = 10;

function GoverningPolicy({ table }: { table: TableDetail }) {
  const { mode, priority, version, values } = table.policy;
  return (
    <Panel
      title="Policy"
      aside={
        <span className="dim">
          {MODE_WORDS[mode]} · priority {priority} · version <code>{version}</code>
        </span>
      }
    >
      <PolicyValues values={values} caption="Values of this table’s policy" />
    </Panel>
  );
}

function JobsOfTable({ table }: { table: string }) {
  const jobs = useInfiniteQuery(jobsQuery({ table, state: undefined }));
  return (
    <Panel
      title="Jobs"
      aside={
        <Link to="/jobs" search={{ table }}>
          {jobs.data?.pages[0] ? pluralize(jobs.data.pages[0].total, "job") : "All jobs"}
        </Link>
      }
    >
      <Loaded query={jobs} label="the jobs">
        {({ pages }) => {
          const items = (pages[0]?.items ?? []).slice(0, JOBS_SHOWN);
          return items.length > 0 ? (
            <JobList jobs={items} isOfOneTable />
          ) : (
            <Empty title="No job has run on this table yet" />
          );
        }}
      </Loaded>
    </Panel>
  );
}

/** One table: its health, plan, activity and jobs. */
export function TablePage() {
  const path: TablePath = route.useParams();
  const { metric = "average_file_size_bytes", range = "24h" } = route.useSearch();
  const navigate = route.useNavigate();
  const table = useQuery(tableQuery(path));
  useDocumentTitle(`${path.table} – iceberg-maintainer`);
  const change = (changed: TableAddress) =>
    void navigate({
      search: (present: TableAddress) => ({ ...present, ...changed }),
      replace: true,
      resetScroll: false,
    });
  return (
    <Loaded query={table} label="the table" heading={path.table} height={PAGE_HEIGHT}>
      {(data) => (
        <div className="stack">
          <TableHeading table={data} path={path} />
          <Answers table={data} />
          <KeyFigures table={data} />
          <div className="columns">
            <SizeHistogram table={data} />
            <HistoryChart path={path} metric={metric} range={range} onChange={change} />
          </div>
          <PlanPanel path={path} />
          <OrphanPanel path={path} />
          <Activity table={data.table} path={path} />
          <div className="columns">
            <ImpactPanel table={data} />
            <Upkeep table={data} />
          </div>
          <JobsOfTable table={data.table} />
          <div className="columns">
            <WorstPartitions path={path} />
            <Metadata table={data} />
          </div>
          <GoverningPolicy table={data} />
        </div>
      )}
    </Loaded>
  );
}
