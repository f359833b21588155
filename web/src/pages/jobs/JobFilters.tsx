import { Button, NativeSelect, SegmentedControl } from "@mantine/core";
import type { JobFilters as Filters } from "../../api/queries";
import type { Job } from "../../api/types";
import { SuggestInput } from "../../components/SuggestInput";
import { TablePicker } from "../../components/TablePicker";
import type { JobsAddress } from "../../lib/addresses";
import { isHistoryRange } from "../../lib/metrics";
import { JOB_RULES, JOB_STATES, RANGE_WORDS, RULE_WORDS, STATE_WORDS } from "../../lib/words";

const ALL = { value: "", label: "All" };
const BY_POLICY = "policy";

/** True when not all jobs are shown. */
export function isFiltered({ table, rule, state, by, range }: JobsAddress): boolean {
  return [table, rule, state, by, range].some((value) => value !== undefined);
}

interface JobFiltersProps {
  address: JobsAddress;
  /** The jobs in sight, whose requesters are suggested. */
  jobs: Job[];
  onChange: (address: JobsAddress) => void;
}

/** Which jobs are shown, and how. */
export function JobFilters({ address, jobs, onChange }: JobFiltersProps) {
  const change = (filters: Filters) => onChange({ ...address, ...filters });
  const requesters = [...new Set([BY_POLICY, ...jobs.map((job) => job.requested_by)])];
  return (
    <form
      className="filters job-filters"
      role="search"
      aria-label="Jobs"
      onSubmit={(event) => event.preventDefault()}
    >
      <TablePicker
        value={address.table ?? ""}
        onChoose={(table) => change({ table: table || undefined })}
      />
      <NativeSelect
        label="Action"
        value={address.rule ?? ""}
        data={[ALL, ...JOB_RULES.map((value) => ({ value, label: RULE_WORDS[value] }))]}
        onChange={({ currentTarget: { value } }) =>
          change({ rule: JOB_RULES.find((known) => known === value) })
        }
      />
      <NativeSelect
        label="State"
        value={address.state ?? ""}
        data={[ALL, ...JOB_STATES.map((value) => ({ value, label: STATE_WORDS[value] }))]}
        onChange={({ currentTarget: { value } }) =>
          change({ state: JOB_STATES.find((known) => known === value) })
        }
      />
      <SuggestInput
        label="Requested by"
        placeholder="Anybody"
        value={address.by ?? ""}
        suggestions={requesters}
        onChoose={(by) => change({ by: by || undefined })}
      />
      <NativeSelect
        label="Created"
        value={address.range ?? ""}
        data={[
          { value: "", label: "At any time" },
          ...Object.entries(RANGE_WORDS).map(([value, label]) => ({ value, label })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          change({ range: isHistoryRange(value) ? value : undefined })
        }
      />
      <SegmentedControl
        aria-label="View"
        size="xs"
        data={[
          { value: "list", label: "List" },
          { value: "timeline", label: "Timeline" },
        ]}
        value={address.view ?? "list"}
        onChange={(view) => onChange({ ...address, view: view === "timeline" ? view : undefined })}
      />
      {isFiltered(address) && (
        <Button onClick={() => onChange(address.view ? { view: address.view } : {})}>
          Clear filters
        </Button>
      )}
    </form>
  );
}
