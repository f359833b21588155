import { Tabs } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { jobsQuery, tableQuery } from "../../api/queries";
import type { TableDetail, TablePath } from "../../api/types";
import { Headline } from "../../components/Headline";
import { Loaded } from "../../components/notices";
import { isTableTab, TABLE_TABS, type TableAddress, type TableTab } from "../../lib/addresses";
import { useNow } from "../../lib/now";
import { findHeadline } from "../../lib/pair";
import { RunningJob } from "./RunningJob";
import { TableHeading } from "./TableHeading";
import { TABS, type TabProps } from "./tabs";

const route = getRouteApi("/tables/$catalog/$namespace/$table");
const PAGE_HEIGHT = 600;

interface TableTabsProps extends TabProps {
  tab: TableTab;
  onTab: (tab: TableTab) => void;
}

function TableTabs({ tab, onTab, ...props }: TableTabsProps) {
  return (
    <Tabs value={tab} keepMounted={false} onChange={(value) => isTableTab(value) && onTab(value)}>
      <Tabs.List aria-label="Parts of this page">
        {TABLE_TABS.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {TABS[each].label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {TABLE_TABS.map((each) => {
        const { Content } = TABS[each];
        return (
          <Tabs.Panel key={each} value={each} pt="md" className="stack">
            <Content {...props} />
          </Tabs.Panel>
        );
      })}
    </Tabs>
  );
}

/** What the last day achieved; nothing when nothing was done. */
function LastSuccess({ table }: { table: string }) {
  const now = useNow();
  const jobs = useInfiniteQuery(jobsQuery({ table, state: undefined })).data?.pages[0]?.items;
  const job = findHeadline(jobs ?? [], now);
  return job && <Headline job={job} isLinked />;
}

/** What can be said of a table: its heading, its running job, and the tab of the address. */
export function TableView({
  table,
  path,
  address,
  onChange,
}: {
  table: TableDetail;
  path: TablePath;
  address: TableAddress;
  onChange: (change: TableAddress, isStep: boolean) => void;
}) {
  return (
    <div className="stack">
      <TableHeading table={table} path={path} />
      <LastSuccess table={table.table} />
      {table.outlook.job && <RunningJob outlook={table.outlook} job={table.outlook.job} />}
      <TableTabs
        tab={address.tab ?? "overview"}
        onTab={(tab) => onChange({ tab }, true)}
        table={table}
        path={path}
        address={address}
        onChange={(change) => onChange(change, false)}
      />
    </div>
  );
}

/** One table; each tab is an address of its own, so that Back leads to the tab before. */
export function TablePage() {
  const path: TablePath = route.useParams();
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const table = useQuery(tableQuery(path));
  useDocumentTitle(`${path.table} – iceberg-maintainer`);
  return (
    <Loaded query={table} label="the table" heading={path.table} height={PAGE_HEIGHT}>
      {(data) => (
        <TableView
          table={data}
          path={path}
          address={address}
          onChange={(change, isStep) =>
            void navigate({
              search: (present: TableAddress) => ({ ...present, ...change }),
              replace: !isStep,
              resetScroll: false,
            })
          }
        />
      )}
    </Loaded>
  );
}
