import { useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { Job } from "../../api/types";
import { Chart } from "../../components/Chart";
import { Panel } from "../../components/Panel";
import { pluralize } from "../../lib/format";
import { drawGantt, layOutGantt } from "../../lib/gantt";
import { useNow } from "../../lib/now";
import type { Palette } from "../../lib/palette";

const ROW_HEIGHT = 26;
const AXIS_HEIGHT = 56;

/** The jobs in the list below over time, a row for each table. */
export function JobTimeline({ jobs }: { jobs: Job[] }) {
  const now = useNow();
  const navigate = useNavigate();
  const gantt = useMemo(() => layOutGantt(jobs, now), [jobs, now]);
  const option = useCallback((palette: Palette) => drawGantt(gantt, palette), [gantt]);
  const { tables, bars } = gantt;
  const open = useCallback(
    (index: number) => {
      const id = bars[index]?.job.job_id;
      if (id !== undefined) void navigate({ to: "/jobs/$id", params: { id } });
    },
    [bars, navigate],
  );
  return (
    <Panel
      title="Timeline"
      aside={<span className="dim">pale: waiting; in the colour of its state: at work</span>}
    >
      <Chart
        label={`${pluralize(bars.length, "job")} on ${pluralize(tables.length, "table")} over time; the list below has each of them`}
        option={option}
        height={tables.length * ROW_HEIGHT + AXIS_HEIGHT}
        onPick={open}
      />
    </Panel>
  );
}
