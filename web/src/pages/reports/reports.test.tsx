import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { makeReport, makeRescue } from "../../../dev/fixtures/reports";
import { smallFilesCsvAddress } from "../../api/reports";
import { readReportsAddress } from "../../lib/addresses";
import { paletteOf } from "../../lib/palette";
import { splitShares } from "../../lib/reportChart";
import { show } from "../../testing/render";
import { sayWait } from "./ReportGrid";
import { Report } from "./ReportsPage";
import { RescuePanel, RescueSteps } from "./RescuePanel";

const report = makeReport(new URLSearchParams({ storage: "hdfs" }));

describe("the report on small files", () => {
  it("has the shares, the slowdown, the requests and the round trips of all tables", async () => {
    await show(<Report report={report} />);
    expect(screen.getByText("27,002 of 87,102 files")).toBeInTheDocument();
    expect(screen.getByText("of that with large files on HDFS")).toBeInTheDocument();
    expect(screen.getByText(/one after the other; 27 s with 64 in parallel/)).toBeInTheDocument();
  });

  it("names the namespaces and leads to the tables to compact first", async () => {
    await show(<Report report={report} />);
    const spaces = screen.getByRole("group", { name: "Small files by namespace" });
    expect(within(spaces).getByRole("link", { name: "lake.streaming" })).toHaveAttribute(
      "href",
      "/tables?catalog=lake&namespace=streaming",
    );
    const first = screen.getByRole("group", { name: "Tables to compact first" });
    expect(within(first).getByRole("link", { name: "lake.streaming.page_views" })).toHaveAttribute(
      "href",
      "/tables/lake/streaming/page_views",
    );
  });

  it.each(["light", "dark"] as const)("has a colour for each class of sizes: %s", (scheme) => {
    const palette = paletteOf(scheme);
    const colours = report.total ? splitShares(report.total).map(({ colour }) => colour) : [];
    expect(new Set(colours.map((colour) => palette[colour])).size).toBe(4);
  });

  it("has no column for money without a price", async () => {
    const free = { ...report, namespaces: [], first: [] };
    const total = report.total && { ...report.total, cost_per_day: null };
    await show(<Report report={{ ...free, total }} />);
    expect(screen.queryByText("Cost of requests a day")).not.toBeInTheDocument();
    expect(screen.getByText(/No table needs fewer requests/)).toBeInTheDocument();
  });

  it("says why it is empty", async () => {
    await show(<Report report={{ ...report, total: null, namespaces: [], first: [] }} />);
    expect(screen.getByText("No measured table has data files")).toBeInTheDocument();
  });
});

describe("the choice of the report", () => {
  it("is read from the address, and what is not understood is left out", () => {
    expect(readReportsAddress({ storage: "ozone", scans_per_day: 100 })).toEqual({
      storage: "ozone",
      scans_per_day: 100,
    });
    expect(readReportsAddress({ storage: "tape", scans_per_day: 7 })).toEqual({});
  });

  it("goes into the address of the CSV", () => {
    expect(smallFilesCsvAddress({ storage: "hdfs", scans_per_day: 10 })).toBe(
      "/api/v1/reports/small-files.csv?storage=hdfs&scans_per_day=10",
    );
  });
});

describe("the classes of sizes", () => {
  it("are what lies between the report's sizes, together all files", () => {
    const classes = report.namespaces.slice(0, 1).flatMap(splitShares);
    expect(classes.map(({ label }) => label.replaceAll("\u00a0", " "))).toEqual([
      "under 64 KiB",
      "64 KiB to 1 MiB",
      "1 MiB to 10 MiB",
      "10 MiB or more",
    ]);
    expect(classes.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });
});

describe("the rescue plan", () => {
  it("has the jobs with the table after each, and why one waits", async () => {
    await show(<RescueSteps plan={makeRescue("lake.streaming.page_views")} />);
    expect(screen.getByText(/Healthy after 3 jobs, 1 d 1 h/)).toBeInTheDocument();
    const grid = screen.getByRole("group", { name: "Rescue plan of lake.streaming.page_views" });
    expect(within(grid).getAllByRole("row")).toHaveLength(4);
    expect(within(grid).getByText(/Later: the budget of the day is used up/)).toBeInTheDocument();
  });

  it("has no list without jobs", async () => {
    const plan = { ...makeRescue("lake.a.b"), steps: [], sentence: "The table is healthy." };
    await show(<RescueSteps plan={plan} />);
    expect(screen.getByText("The table is healthy.")).toBeInTheDocument();
    expect(screen.queryByRole("table")).not.toBeInTheDocument();
  });

  it("asks for a table, and refuses what is no table's name", async () => {
    const { unmount } = await show(<RescuePanel table="" onChoose={() => undefined} />);
    expect(screen.getByText("Choose a table")).toBeInTheDocument();
    unmount();
    await show(<RescuePanel table="orders" onChoose={() => undefined} />);
    expect(screen.getByText("No table has the name orders")).toBeInTheDocument();
  });
});

it("writes waits below a second in milliseconds", () => {
  expect(sayWait(0.00247)).toBe("2.47\u00a0ms");
  expect(sayWait(1.6)).toBe("1.6\u00a0s");
});
