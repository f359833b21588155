import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { history } from "../../../dev/fixtures/fleet";
import type { FleetHistory } from "../../api/types";
import { drawFleet } from "../../lib/fleetCharts";
import { paletteOf } from "../../lib/palette";
import { show } from "../../testing/render";
import { Trend } from "./FleetTrend";

const NOW = new Date();
const palette = paletteOf("light");
const draw = (metric: Parameters<typeof drawFleet>[1], shown: FleetHistory = history) =>
  drawFleet(shown, metric, palette, NOW) as {
    yAxis: { min?: number; max?: number };
    series: {
      name: string;
      data: [string, number | null][];
    }[];
  };

describe("the fleet over time", () => {
  it("says its first and its last value, and has its values as a table", async () => {
    await show(<Trend history={history} metric="data_files" />);
    expect(screen.getByRole("img")).toHaveAccessibleName(/^Data files: 12.000 at .*10.234 at/);
    const rows = within(screen.getByRole("group", { name: "Data files over time" }));
    expect(rows.getAllByRole("row").length).toBe(21);
    expect(rows.getAllByRole("row")[1]).toHaveTextContent(/10.234$/);
  });

  it("names the colours of the bands, and says that a band is no state", async () => {
    await show(<Trend history={history} metric="bands" />);
    const colours = within(screen.getByRole("list", { name: "Colours" }));
    expect(colours.getAllByRole("listitem").map((one) => one.textContent)).toEqual([
      "healthy",
      "watch",
      "degraded",
      "critical",
    ]);
    expect(screen.getByText(/^A band grades a table's files/)).toBeInTheDocument();
  });

  it("draws no bounds of a table behind the average of many tables", () => {
    expect(draw("average_file_size_bytes").series.map((one) => "markArea" in one)).toEqual([false]);
  });

  it("leaves no value outside the scale, however small or large", () => {
    for (const size of [1, 700, 2 ** 45]) {
      const samples = history.samples.map((one) => ({ ...one, average_file_size_bytes: size }));
      const { yAxis } = draw("average_file_size_bytes", { ...history, samples });
      expect(yAxis.min).toBeLessThanOrEqual(size);
      expect(yAxis.max).toBeGreaterThanOrEqual(size);
    }
  });

  it("draws the last value until now", () => {
    for (const metric of ["average_file_size_bytes", "bands", "data_bytes"] as const) {
      const points = draw(metric).series[0]?.data ?? [];
      expect(points.at(-1)?.[0]).toBe(NOW.toISOString());
      expect(points.at(-1)?.[1]).toBe(points.at(-2)?.[1]);
    }
  });

  it("stacks the bands with the worst at the bottom", () => {
    expect(draw("bands").series.map(({ name }) => name)).toEqual([
      "Critical",
      "Degraded",
      "Watch",
      "Healthy",
    ]);
  });

  it("says that nothing was recorded", async () => {
    await show(<Trend history={{ ...history, samples: [] }} metric="bands" />);
    expect(screen.getByText("Nothing was recorded in this time range")).toBeInTheDocument();
  });
});
