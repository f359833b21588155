import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { dailyWork } from "../../../dev/fixtures/fleet";
import { drawDays, fillDays } from "../../lib/dailyCharts";
import { paletteOf } from "../../lib/palette";
import { show } from "../../testing/render";
import { BudgetList } from "./Budgets";
import { DailyBars } from "./DailyWork";

describe("the days", () => {
  it("are all there, also those without a job", () => {
    const now = new Date("2026-11-21T10:00:00Z");
    const day = {
      day: "2026-11-20",
      files_removed: 7,
      requests_saved: 8,
      bytes_rewritten: 1,
      gb_hours: 2,
    };
    const days = fillDays([day], 3, now);
    expect(days.map((one) => [one.day, one.files_removed])).toEqual([
      ["2026-11-19", 0],
      ["2026-11-20", 7],
      ["2026-11-21", 0],
    ]);
    const { series } = drawDays(days, "requests_saved", paletteOf("light")) as {
      series: { data: number[] }[];
    };
    expect(series[0]?.data).toEqual([0, 8, 0]);
  });

  it("show another figure, and all of them as a table", async () => {
    await show(<DailyBars work={dailyWork} />);
    expect(screen.getByRole("img")).toHaveAccessibleName(/^Files removed by day: .* in 30 days$/);
    await userEvent.selectOptions(screen.getByLabelText("Daily figure"), "GB-hours");
    expect(screen.getByRole("img")).toHaveAccessibleName(/^GB-hours by day: /);
    const rows = within(screen.getByRole("group", { name: "Cost and savings by day" }));
    expect(rows.getAllByRole("row")).toHaveLength(1 + dailyWork.days.length);
  });

  it("say what is left of the budgets", async () => {
    await show(<BudgetList budgets={dailyWork.budgets} />);
    expect(screen.getByText("0.44 of 4 GB-hours")).toBeInTheDocument();
    expect(
      screen.getByRole("progressbar", { name: /catalog lake: 17.GiB of 16.GiB/ }),
    ).toBeVisible();
  });

  it("are empty before the first job", async () => {
    await show(<DailyBars work={{ ...dailyWork, days: [], budgets: [] }} />);
    expect(screen.getByText("No job in the last 30 days")).toBeInTheDocument();
  });
});
