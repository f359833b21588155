import { NativeSelect } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import { smallFilesCsvAddress, smallFilesQuery } from "../../api/reports";
import type { ReportLine, ReportsAddress, SmallFilesReport } from "../../api/types";
import { Chart } from "../../components/Chart";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { readReportsAddress, SCANS_PER_DAY } from "../../lib/addresses";
import { capitalize, formatCount, formatRatio, pluralize } from "../../lib/format";
import type { Palette } from "../../lib/palette";
import { drawShares, splitShares } from "../../lib/reportChart";
import { PROFILE_WORDS, STORAGES } from "../../lib/words";
import { ReportGrid } from "./ReportGrid";
import { ReportTiles } from "./ReportTiles";
import { RescuePanel } from "./RescuePanel";

const PAGE_HEIGHT = 480;
const BARS = 15;
const BAR_HEIGHT = 32;
const AXIS_HEIGHT = 40;

interface ChoiceProps {
  choice: ReportsAddress;
  onChange: (choice: ReportsAddress) => void;
}

/** What the report assumes. */
function Choices({ choice, onChange }: ChoiceProps) {
  return (
    <div className="row">
      <NativeSelect
        label="Storage"
        data={[
          { value: "", label: "Each table’s own" },
          ...STORAGES.map((one) => ({ value: one, label: capitalize(PROFILE_WORDS[one]) })),
        ]}
        value={choice.storage ?? ""}
        onChange={({ currentTarget: { value } }) =>
          onChange(readReportsAddress({ ...choice, storage: value }))
        }
      />
      <NativeSelect
        label="Full reads of each table a day"
        data={SCANS_PER_DAY.map((one) => ({ value: String(one), label: formatCount(one) }))}
        value={String(choice.scans_per_day ?? SCANS_PER_DAY[0])}
        onChange={({ currentTarget: { value } }) =>
          onChange(readReportsAddress({ ...choice, scans_per_day: Number(value) }))
        }
      />
    </div>
  );
}

const sayShares = (line: ReportLine) =>
  `${line.name}: ${splitShares(line)
    .map(({ label, share }) => `${formatRatio(share)} ${label}`)
    .join(", ")}`;

/** The files of the worst namespaces by size; the grid below has the figures. */
function Shares({ lines }: { lines: ReportLine[] }) {
  const option = useCallback((palette: Palette) => drawShares(lines, palette), [lines]);
  const [first] = lines;
  return (
    <div>
      <Chart
        label={`Shares of files by size. ${lines.map(sayShares).join("; ")}`}
        option={option}
        height={lines.length * BAR_HEIGHT + AXIS_HEIGHT}
      />
      <ul className="legend">
        {first &&
          splitShares(first).map(({ label, colour }) => (
            <li key={label}>
              <span className="legend-item">
                <span className={`swatch swatch-${colour}`} />
                {label}
              </span>
            </li>
          ))}
      </ul>
    </div>
  );
}

export function Report({ report }: { report: SmallFilesReport }) {
  const { total, namespaces, first } = report;
  const shown = namespaces.slice(0, BARS);
  if (total === null)
    return (
      <div className="panel">
        <Empty title="No measured table has data files">
          The report appears when the first scan of the catalogs is done.
        </Empty>
      </div>
    );
  return (
    <>
      <ReportTiles report={report} total={total} />
      <Panel
        title="By namespace"
        aside={
          <span className="dim">
            {namespaces.length > shown.length
              ? `the chart shows ${shown.length} of ${pluralize(namespaces.length, "namespace")}`
              : "data files by size, the most avoidable requests first"}
          </span>
        }
      >
        <div className="stack">
          <Shares lines={shown} />
          <ReportGrid of="namespace" lines={namespaces} total={total} />
        </div>
      </Panel>
      <Panel title="Compact first">
        {first.length > 0 ? (
          <ReportGrid of="table" lines={first} />
        ) : (
          <Empty title="No table needs fewer requests with files of its target size" />
        )}
      </Panel>
      <Panel title="What the figures say">
        <ul className="findings">
          {report.sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

const route = getRouteApi("/reports");

/** What small files cost, by namespace, and what to compact first. */
export function ReportsPage() {
  useDocumentTitle("Reports – iceberg-maintainer");
  const choice = route.useSearch();
  const navigate = route.useNavigate();
  const change = (search: ReportsAddress) =>
    void navigate({ search, replace: true, resetScroll: false });
  const report = useQuery(smallFilesQuery(choice));
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Reports: what small files cost</h1>
        <a href={smallFilesCsvAddress(choice)} download="small-files.csv">
          Download CSV
        </a>
      </div>
      <Choices choice={choice} onChange={change} />
      <Loaded query={report} label="the report" height={PAGE_HEIGHT}>
        {(data) => <Report report={data} />}
      </Loaded>
      <RescuePanel
        table={choice.table ?? ""}
        onChoose={(table) => change(readReportsAddress({ ...choice, table }))}
      />
    </div>
  );
}
