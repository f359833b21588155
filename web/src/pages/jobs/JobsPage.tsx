import { Button, NativeSelect } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { jobsQuery } from "../../api/queries";
import { JobList } from "../../components/JobList";
import { Empty, Loaded } from "../../components/notices";
import { TableLink } from "../../components/TableLink";
import type { JobsAddress } from "../../lib/addresses";
import { formatCount, pluralize } from "../../lib/format";
import { JOB_STATES, STATE_WORDS } from "../../lib/words";
import { PoolNotice, PoolPanel } from "./PoolPanel";

const route = getRouteApi("/jobs");
const LIST_HEIGHT = 400;

/** All jobs, newest first. */
export function JobsPage() {
  useDocumentTitle("Jobs – iceberg-maintainer");
  const { state, table } = route.useSearch();
  const navigate = route.useNavigate();
  const jobs = useInfiniteQuery(jobsQuery({ state, table }));
  const change = (address: JobsAddress) =>
    void navigate({ search: address, replace: true, resetScroll: false });
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Jobs</h1>
        <span className="dim" aria-live="polite">
          {jobs.data?.pages[0] && pluralize(jobs.data.pages[0].total, "job")}
        </span>
      </div>
      <PoolNotice />
      <div className="row job-filters">
        <NativeSelect
          label="State"
          value={state ?? ""}
          data={[
            { value: "", label: "All" },
            ...JOB_STATES.map((value) => ({ value, label: STATE_WORDS[value] })),
          ]}
          onChange={({ currentTarget: { value } }) => {
            const chosen = JOB_STATES.find((known) => known === value);
            change({ ...(chosen && { state: chosen }), ...(table && { table }) });
          }}
        />
        {table && (
          <>
            <span>
              of <TableLink name={table} />
            </span>
            <Button onClick={() => change(state ? { state } : {})}>All tables</Button>
          </>
        )}
      </div>
      <Loaded query={jobs} label="the jobs" height={LIST_HEIGHT}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          return (
            <div className="panel panel-flush">
              {items.length > 0 ? (
                <JobList jobs={items} />
              ) : state || table ? (
                <Empty title="No job matches these filters" />
              ) : (
                <Empty title="No jobs yet">
                  They appear when a policy in enforce mode, or somebody, asks for one.
                </Empty>
              )}
              {jobs.hasNextPage && (
                <div className="list-end">
                  <span className="dim">
                    {formatCount(items.length)} of {formatCount(pages[0]?.total)}
                  </span>
                  <Button
                    onClick={() => void jobs.fetchNextPage()}
                    loading={jobs.isFetchingNextPage}
                  >
                    Load more
                  </Button>
                </div>
              )}
            </div>
          );
        }}
      </Loaded>
      {!state && !table && <PoolPanel />}
    </div>
  );
}
