import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { effect, events, jobs, makeJob, makePlan } from "../../dev/fixtures/jobs";
import { makeDetail, makeFinding, makeTable, tables } from "../../dev/fixtures/tables";
import { unwrap } from "../api/client";
import { JobList } from "../components/JobList";
import { ErrorNotice } from "../components/notices";
import { show } from "../testing/render";
import { BeforeAfter } from "./job/BeforeAfter";
import { foldProgress, Timeline } from "./job/Timeline";
import { ImpactPanel } from "./table/files/ImpactPanel";
import { PlanVerdicts } from "./table/jobs/PlanPanel";
import { Upkeep } from "./table/snapshots/Upkeep";
import { TableRow } from "./tables/TableRow";

const row = (table = makeTable()) => (
  <table>
    <tbody>
      <TableRow table={table} />
    </tbody>
  </table>
);

const cells = () =>
  screen.getAllByRole("cell").map((cell) => cell.textContent.replaceAll("\u00a0", " "));

describe("a row of the table list", () => {
  it("shows figures with units and leads to the table", async () => {
    await show(row());
    expect(cells().slice(0, 6)).toEqual(["Duecritical", "35.3 KiB", "", "1,536", "0", "48"]);
    expect(screen.getByRole("link", { name: "page_views" })).toHaveAttribute(
      "href",
      "/tables/lake/streaming/page_views",
    );
  });

  it("says in one line what is worst, and all of it in the title", async () => {
    await show(row());
    const line = screen.getByText(/^Data files are 35\.3 KiB on average, under 32 MiB\.$/);
    expect(line).toHaveTextContent("+1 Data files");
    expect(line.title).toMatch(/^Data files are 35.+\nAll 1536 data files are under 96 MiB\.$/s);
  });

  it("shows the one state of a table, and no band of one that cannot be read", async () => {
    await show(row(tables.find((table) => table.fault)));
    expect(screen.getByText("Unreadable")).toBeInTheDocument();
    expect(screen.queryByText("critical")).not.toBeInTheDocument();
    expect(screen.getByText(/ends after 4096 of 18231 bytes/)).toBeInTheDocument();
  });

  it("shows no number for what was not measured", async () => {
    await show(row(tables.find((table) => table.measured_at === null)));
    expect(cells().slice(0, 6)).toEqual(["Not measured", "–", "", "–", "–", "–"]);
  });

  it("does not add up delete files when one kind is not known", async () => {
    await show(row(makeTable({ position_delete_files: 3, equality_delete_files: null })));
    expect(cells()[4]).toBe("–");
  });
});

describe("what small files cost", () => {
  const detail = makeDetail(makeTable());

  it("is a range, called an estimate, with its profile and its source", async () => {
    await show(<ImpactPanel table={detail} />);
    expect(screen.getByRole("heading", { name: "Impact (estimate)" })).toBeInTheDocument();
    expect(screen.getByText(/^2\.5× to 9\.1×/)).toBeInTheDocument();
    expect(screen.getByText("object store")).toBeInTheDocument();
    expect(screen.getByText(/not of this table/)).toBeInTheDocument();
    expect(screen.queryByText("Name node")).not.toBeInTheDocument();
  });

  it("shows a cost only at a price and a name node only where there is one", async () => {
    if (detail.impact === null) throw new Error("the fixture has an impact");
    const impact = {
      ...detail.impact,
      request_cost_per_scan: null,
      name_node: {
        files: 140,
        directories: 20,
        blocks: 140,
        objects: 300,
        heap_bytes: 200_000,
        heap_bytes_with_snapshots: 260_000,
      },
    };
    await show(<ImpactPanel table={{ ...detail, impact }} />);
    expect(screen.queryByText("Cost of requests per full read")).not.toBeInTheDocument();
    expect(screen.getByText("Cost of writing these files")).toBeInTheDocument();
    expect(screen.getByText(/at least 300 objects, 195/)).toBeInTheDocument();
    expect(screen.getByText(/253\.9.KiB with HDFS snapshots/)).toBeInTheDocument();
  });

  it("says how long a scan takes, and from which storage that follows", async () => {
    await show(<ImpactPanel table={detail} />);
    expect(screen.getByText(/of which 10 s are round trips/)).toBeInTheDocument();
    expect(screen.getByText(/round trip of 6\.6 ms/)).toBeInTheDocument();
  });

  it("is not made up for a table without files", async () => {
    await show(<ImpactPanel table={{ ...detail, impact: null }} />);
    expect(screen.getByText(/Nothing to estimate/)).toBeInTheDocument();
  });
});

describe("how a table is written and what it keeps", () => {
  it("names writers, growth and the tag that holds an old snapshot", async () => {
    await show(<Upkeep table={makeDetail(makeTable())} />);
    expect(screen.getByText(/stream-ingest 70, spark 1\.5/)).toBeInTheDocument();
    expect(screen.getByText("quarter_end", { exact: false })).toHaveTextContent(/tag, 1 snapshot/);
    expect(screen.queryByText("Contradictions in the metadata")).not.toBeInTheDocument();
  });

  it("shows no number for what is not known, and both of what disagrees", async () => {
    const disagreements = [
      { figure: "data files", source: "snapshot summary", claimed: 9, counted: 7 },
    ];
    const unknown = {
      growth_bytes_per_day: null,
      growth_records_per_day: null,
      live_file_ratio: null,
      kept_data_files: null,
      commits_per_hour: null,
    };
    await show(
      <Upkeep
        table={{
          ...makeDetail(makeTable()),
          ...unknown,
          disagreements,
          ref_retention: [],
          commit_window_seconds: null,
          writers: [],
        }}
      />,
    );
    expect(screen.getAllByText("–")).toHaveLength(3);
    expect(screen.getByText("snapshot summary: 9 data files, counted 7")).toBeInTheDocument();
    expect(screen.getByText("only main")).toBeInTheDocument();
  });
});

describe("a plan", () => {
  it("says what would run, with the statement", async () => {
    await show(<PlanVerdicts plan={makePlan("lake.streaming.page_views")} />);
    expect(screen.getByRole("heading", { name: "Compact data files" })).toBeInTheDocument();
    expect(screen.getByText(/CALL lake\.system\.rewrite_data_files/)).toBeInTheDocument();
  });

  it("says what does not run, why, and when it is checked next", async () => {
    await show(<PlanVerdicts plan={makePlan("lake.streaming.page_views")} />);
    expect(
      screen.getByText("Rewriting manifests is not due: manifests 48, threshold above 100."),
    ).toBeInTheDocument();
    expect(screen.getByText(/when the table changes/)).toBeInTheDocument();
    expect(screen.getByText(/^in 2\d\smin$/)).toBeInTheDocument();
  });
});

describe("before and after", () => {
  it("shows differences with their signs and the proof in words", async () => {
    await show(<BeforeAfter effect={effect} errors={makeJob().estimate_errors} />);
    const files = within(screen.getByRole("row", { name: /^Data files/ })).getAllByRole("cell");
    expect(files.map((cell) => cell.textContent)).toEqual(["1,536", "96", "−1,440"]);
    expect(screen.getByText(/^Rows unchanged/)).toBeInTheDocument();
    expect(screen.getByText(/2 commits by others/)).toBeInTheDocument();
  });

  it("shows each estimate beside its actual value, and by how much it was off", async () => {
    const unforeseen = {
      quantity: "delete_files_removed",
      estimated: 3,
      actual: 0,
      ratio: null,
      note: "",
    } as const;
    const first = {
      quantity: "snapshots_removed",
      estimated: 6,
      actual: 41,
      ratio: -0.85,
      note: "first run, still learning",
    } as const;
    const excessive = {
      quantity: "manifests_removed",
      estimated: 32,
      actual: 25,
      ratio: 0.28,
      note: "",
    } as const;
    await show(
      <BeforeAfter
        effect={effect}
        errors={[...makeJob().estimate_errors, excessive, unforeseen, first]}
      />,
    );
    const grid = screen.getByRole("group", { name: "Estimate and effect" });
    const rows = within(grid).getAllByRole("row").slice(1);
    expect(rows.map((each) => each.textContent.replace(/\u00a0/g, " "))).toEqual([
      "Files removed1,4401,440exact",
      "Bytes rewritten52.9 MiB52.9 MiBexact",
      "GB-hours0.01050.01151.1× the estimate",
      "Duration38 s41 s1.1× the estimate",
      "Manifests removed32250.78× the estimate",
      "Delete files removed300× the estimate",
      "Snapshots removed641first run, still learning",
    ]);
  });

  it("does not call different rows a success", async () => {
    await show(
      <BeforeAfter effect={{ ...effect, rows: "different", rows_after: 4_607_999 }} errors={[]} />,
    );
    expect(screen.getByText(/The job counts as failed/)).toBeInTheDocument();
    expect(screen.queryByText(/Rows unchanged/)).not.toBeInTheDocument();
  });
});

describe("the job list", () => {
  it("says what became of each job", async () => {
    await show(<JobList jobs={jobs} />);
    expect(screen.getByText(/the average file grew/)).toBeInTheDocument();
    expect(screen.getByText(/^A writer committed first: Cannot commit/)).toBeInTheDocument();
    expect(screen.getByText("Cancelled by person")).toBeInTheDocument();
    expect(screen.getByText("Running on Spark")).toBeInTheDocument();
  });

  it("leads to a table whose name holds a dot", async () => {
    await show(<JobList jobs={[makeJob({ table: "lake.`eu.west`.orders" })]} />);
    const href =
      screen.getByRole("link", { name: "lake.`eu.west`.orders" }).getAttribute("href") ?? "";
    expect(decodeURIComponent(href)).toBe("/tables/lake/`eu.west`/orders");
  });
});

it("folds progress that follows progress", async () => {
  expect(foldProgress(events).map((event) => event.sequence)).toEqual([1, 2, 3, 5, 6, 7]);
  await show(<Timeline events={events} stream="live" />);
  expect(screen.getAllByText(/(tasks|file groups) done\.$/)).toHaveLength(1);
});

describe("errors", () => {
  const refusal = { title: "Not Found", detail: "no table lake.x.y is known", status: 404 };
  it("are told in the daemon's words", async () => {
    const retry = vi.fn();
    const error = await unwrap(
      Promise.resolve({ error: refusal, response: new Response(null, { status: 404 }) }),
    ).catch((each: unknown) => each);
    await show(<ErrorNotice error={error as Error} onRetry={retry} />);
    expect(screen.getByRole("alert")).toHaveTextContent("Not Foundno table lake.x.y is known");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(retry).toHaveBeenCalledOnce();
  });

  it("say so when there was no answer", async () => {
    await expect(unwrap(Promise.reject(new TypeError("fetch failed")))).rejects.toMatchObject({
      status: 0,
      title: "The daemon does not answer",
    });
  });
});

it("tells a finding that nothing would change by the table's reason", async () => {
  const finding = makeFinding({
    is_actionable: false,
    sentence: "average file size 1.3 KiB is below 4 MiB; a rewrite would not reduce the files",
  });
  await show(
    row(
      makeTable({
        band: "healthy",
        findings: [finding, finding],
        reason: "nothing to gain: a rewrite would not reduce the files",
      }),
    ),
  );
  expect(
    screen.getByText("Nothing to gain: a rewrite would not reduce the files"),
  ).toBeInTheDocument();
  expect(screen.queryByText(/more/)).not.toBeInTheDocument();
});

it("does not write an id as a count, nor repeat the statement", async () => {
  const at = "2026-11-21T12:00:00Z";
  const fields = {
    snapshot_id: 5735460159,
    statement: "CALL x",
    result: { added_data_files_count: 1536 },
  };
  await show(
    <Timeline events={[{ sequence: 1, at, name: "statement.finished", fields }]} stream="ended" />,
  );
  expect(screen.getByText("5735460159")).toBeInTheDocument();
  expect(screen.getByText("Added data files count:")).toBeInTheDocument();
  expect(screen.queryByText(/CALL x/)).not.toBeInTheDocument();
});

it("says a finding without a sentence by its metric", async () => {
  await show(row(makeTable({ findings: [makeFinding({ sentence: "" })] })));
  expect(screen.getByText(/^Average file size bytes is 36142/)).toBeInTheDocument();
});
