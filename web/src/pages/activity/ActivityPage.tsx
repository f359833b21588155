import { NativeSelect } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { auditQuery, type AuditFilters } from "../../api/audit";
import { LoadMore } from "../../components/LoadMore";
import { Empty, Loaded } from "../../components/notices";
import { SuggestInput } from "../../components/SuggestInput";
import { TablePicker } from "../../components/TablePicker";
import { formatCount, pluralize } from "../../lib/format";
import { isHistoryRange } from "../../lib/metrics";
import { RANGE_WORDS } from "../../lib/words";
import { AuditList } from "./AuditList";

const route = getRouteApi("/activity");
const LIST_HEIGHT = 400;

/** Who did what: the audit log. */
export function ActivityPage() {
  useDocumentTitle("Activity – iceberg-maintainer");
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const audit = useInfiniteQuery(auditQuery(filters));
  const change = (search: AuditFilters) =>
    void navigate({ search: { ...filters, ...search }, resetScroll: false });
  const entries = audit.data?.pages.flatMap((page) => page.items) ?? [];
  const total = audit.data?.pages[0]?.total;
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Activity</h1>
        <span className="dim" aria-live="polite">
          {total !== undefined &&
            `${pluralize(total, "log entry", "log entries")}, a line for each job`}
        </span>
      </div>
      <form
        className="filters"
        role="search"
        aria-label="Activity"
        onSubmit={(event) => event.preventDefault()}
      >
        <TablePicker
          value={filters.table ?? ""}
          onChoose={(table) => change({ table: table || undefined })}
        />
        <SuggestInput
          label="By"
          placeholder="Anybody"
          value={filters.actor ?? ""}
          suggestions={[...new Set(entries.map(({ actor }) => actor))]}
          onChoose={(actor) => change({ actor: actor || undefined })}
        />
        <NativeSelect
          label="When"
          value={filters.range ?? ""}
          data={[
            { value: "", label: "At any time" },
            ...Object.entries(RANGE_WORDS).map(([value, label]) => ({ value, label })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            change({ range: isHistoryRange(value) ? value : undefined })
          }
        />
      </form>
      <Loaded query={audit} label="the activity" height={LIST_HEIGHT}>
        {() => (
          <div className="panel panel-flush">
            {entries.length > 0 ? (
              <AuditList entries={entries} />
            ) : (
              <Empty title="No entries, or no entry matches these filters" />
            )}
            <LoadMore
              query={audit}
              shown={`${formatCount(entries.length)} of ${formatCount(total)} log entries`}
            />
          </div>
        )}
      </Loaded>
    </div>
  );
}
