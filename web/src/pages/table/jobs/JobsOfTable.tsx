import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobsQuery } from "../../../api/queries";
import { JobList } from "../../../components/JobList";
import { Empty, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { pluralize } from "../../../lib/format";

const JOBS_SHOWN = 10;

/** The newest jobs of a table; `table` is its full name. */
export function JobsOfTable({ table }: { table: string }) {
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
