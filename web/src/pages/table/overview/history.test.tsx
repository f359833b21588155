import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { makeJob } from "../../../../dev/fixtures/jobs";
import type { History, Job } from "../../../api/types";
import { drawHistory, findFinished, MOST_MARKERS, thinMarkers } from "../../../lib/historyChart";
import { paletteOf } from "../../../lib/palette";
import { show } from "../../../testing/render";
import { Trend } from "./HistoryChart";

const START = Date.parse("2026-11-01T00:00:00Z");
const HOUR = 3_600_000;
const hour = (hours: number) => new Date(START + hours * HOUR).toISOString();
const history: History = {
  table: "lake.streaming.page_views",
  metric: "data_files",
  samples: [
    { at: hour(0), value: 1536 },
    { at: hour(20), value: 12 },
  ],
};
const finish = (hours: number, change: Partial<Job> = {}) =>
  makeJob({
    job_id: `job-${hours}`,
    rule: "expire_snapshots",
    state: "succeeded",
    ended_at: hour(hours),
    ...change,
  });

describe("the jobs on a table's trend", () => {
  it("are those that were proved or failed, newest first", () => {
    const jobs = [
      finish(1),
      finish(3, { state: "failed" }),
      finish(4, { state: "cancelled" }),
      finish(5, { state: "running", ended_at: null }),
    ];
    expect(findFinished(jobs).map(({ job }) => job.job_id)).toEqual(["job-3", "job-1"]);
  });

  it("are named with their action and result", () => {
    const finished = findFinished([finish(2), finish(10, { state: "failed" })]);
    const markers = thinMarkers(finished, START, START + 20 * HOUR);
    expect(markers.map(({ label }) => label).sort()).toEqual([
      "Expire snapshots: failed",
      "Expire snapshots: proved",
    ]);
    expect(markers.find(({ hasFailed }) => hasFailed)?.at).toBe(hour(10));
  });

  it("share a marker where many ended, and a failure stays in sight", () => {
    const jobs = Array.from({ length: 200 }, (_, index) => finish(index / 10));
    const failed = finish(10.05, { state: "failed" });
    const markers = thinMarkers(findFinished([...jobs, failed]), START, START + 20 * HOUR);
    expect(markers).toHaveLength(MOST_MARKERS);
    const bad = markers.filter(({ hasFailed }) => hasFailed);
    expect(bad.map(({ label }) => label)).toEqual([expect.stringMatching(/^\d+ jobs: 1 failed$/)]);
  });

  it("are inside the chart, also those that ended after the newest sample", () => {
    const drawn = drawHistory(
      history,
      "data_files",
      findFinished([finish(30)]),
      paletteOf("light"),
    );
    const { xAxis, series } = drawn as {
      xAxis: { max: number };
      series: { data: [string, number][]; markLine: { data: { xAxis: string }[] } }[];
    };
    expect(xAxis.max).toBe(START + 30 * HOUR);
    expect(series[0]?.markLine.data.map((marker) => marker.xAxis)).toEqual([hour(30)]);
    expect(series[0]?.data.at(-1)).toEqual([hour(30), 12]);
  });

  it("may be missing, and the only sample stands at the end of a minute", () => {
    const only = { ...history, samples: history.samples.slice(0, 1) };
    const { xAxis } = drawHistory(only, "data_files", [], paletteOf("light")) as {
      xAxis: { min: number; max: number };
    };
    const at = Date.parse(only.samples[0]?.at ?? "");
    expect(xAxis).toMatchObject({ min: at - 60_000, max: at });
  });

  it("have a table with their links", async () => {
    await show(
      <Trend history={history} metric="data_files" finished={findFinished([finish(2)])} hasMore />,
    );
    expect(screen.getByRole("img")).toHaveAccessibleName(/2 samples, 1 finished job$/);
    const table = within(screen.getByRole("group", { name: "Finished jobs in this time range" }));
    expect(table.getByRole("link", { name: "Expire snapshots" })).toHaveAttribute(
      "href",
      "/jobs/job-2",
    );
    expect(table.getByRole("cell", { name: "proved" })).toBeInTheDocument();
    expect(screen.getByText(/older ones are not marked$/)).toBeInTheDocument();
  });

  it("have no table where none ended", async () => {
    await show(<Trend history={history} metric="data_files" finished={[]} hasMore={false} />);
    expect(screen.queryByText(/in this time range/)).not.toBeInTheDocument();
  });
});
