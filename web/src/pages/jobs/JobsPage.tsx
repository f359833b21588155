import { useDocumentTitle } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { jobsQuery } from "../../api/queries";
import { JobList } from "../../components/JobList";
import { LoadMore } from "../../components/LoadMore";
import { Empty, Loaded } from "../../components/notices";
import type { JobsAddress } from "../../lib/addresses";
import { formatCount, pluralize } from "../../lib/format";
import { isFiltered, JobFilters } from "./JobFilters";
import { JobTimeline } from "./JobTimeline";
import { PoolNotice, PoolPanel } from "./PoolPanel";

const route = getRouteApi("/jobs");
const LIST_HEIGHT = 400;

/** All jobs, newest first. */
export function JobsPage() {
  useDocumentTitle("Jobs – iceberg-maintainer");
  const address = route.useSearch();
  const { view, ...filters } = address;
  const navigate = route.useNavigate();
  const jobs = useInfiniteQuery(jobsQuery(filters));
  const change = (search: JobsAddress) => void navigate({ search, resetScroll: false });
  const loaded = jobs.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Jobs</h1>
        <span className="dim" aria-live="polite">
          {jobs.data?.pages[0] && pluralize(jobs.data.pages[0].total, "job")}
        </span>
      </div>
      <PoolNotice />
      <JobFilters address={address} jobs={loaded} onChange={change} />
      {view && loaded.length > 0 && <JobTimeline jobs={loaded} />}
      <Loaded query={jobs} label="the jobs" height={LIST_HEIGHT}>
        {({ pages }) => (
          <div className="panel panel-flush">
            {loaded.length > 0 ? (
              <JobList jobs={loaded} />
            ) : isFiltered(address) ? (
              <Empty title="No job matches these filters" />
            ) : (
              <Empty title="No jobs yet">
                They appear when a policy in enforce mode, or somebody, asks for one.
              </Empty>
            )}
            <LoadMore
              query={jobs}
              shown={`${formatCount(loaded.length)} of ${formatCount(pages[0]?.total)}`}
            />
          </div>
        )}
      </Loaded>
      {!isFiltered(address) && <PoolPanel />}
    </div>
  );
}
