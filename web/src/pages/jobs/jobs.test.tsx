import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { jobs, makeJob } from "../../../dev/fixtures/jobs";
import { drawGantt, layOutGantt, MOST_ROWS } from "../../lib/gantt";
import { paletteOf } from "../../lib/palette";
import { show } from "../../testing/render";
import { isFiltered, JobFilters } from "./JobFilters";

const NOW = Date.parse("2026-11-22T20:00:00Z");

describe("the filters of the jobs", () => {
  it("report each change with the other filters, and clear all but the view", async () => {
    const onChange = vi.fn();
    const address = { state: "failed", view: "timeline" } as const;
    await show(<JobFilters address={address} jobs={jobs} onChange={onChange} />);
    await userEvent.selectOptions(screen.getByLabelText("Action"), "Expire snapshots");
    expect(onChange).toHaveBeenLastCalledWith({ ...address, rule: "expire_snapshots" });
    await userEvent.selectOptions(screen.getByLabelText("Created"), "In the last 24 hours");
    expect(onChange).toHaveBeenLastCalledWith({ ...address, range: "24h" });
    await userEvent.click(screen.getByRole("button", { name: "Clear filters" }));
    expect(onChange).toHaveBeenLastCalledWith({ view: "timeline" });
  });

  it("take a name when Enter is pressed, or as soon as it is one of the suggestions", async () => {
    const onChange = vi.fn();
    await show(<JobFilters address={{}} jobs={jobs} onChange={onChange} />);
    const by = screen.getByLabelText("Requested by");
    await userEvent.type(by, "person ad");
    expect(onChange).not.toHaveBeenCalled();
    await userEvent.type(by, "a{Enter}");
    expect(onChange).toHaveBeenLastCalledWith({ by: "person ada" });
    await userEvent.clear(by);
    await userEvent.type(by, "policy");
    expect(onChange).toHaveBeenLastCalledWith({ by: "policy" });
  });

  it("are none while only the view is chosen", () => {
    expect(isFiltered({ view: "timeline" })).toBe(false);
    expect(isFiltered({ by: "policy" })).toBe(true);
  });
});

describe("the timeline of the jobs", () => {
  const waiting = makeJob({
    job_id: "waiting",
    created_at: "2026-11-22T19:50:00Z",
    started_at: null,
    ended_at: null,
    finished_at: null,
  });

  it("has a row for each table, and an unfinished job lasts until now", () => {
    const other = makeJob({ job_id: "other", table: "lake.a.b" });
    const { tables, bars } = layOutGantt([waiting, other, { ...waiting, job_id: "again" }], NOW);
    expect(tables).toEqual([waiting.table, "lake.a.b"]);
    expect(bars.map(({ job, row }) => [job.job_id, row])).toEqual([
      ["waiting", 0],
      ["other", 1],
      ["again", 0],
    ]);
    expect(bars[0]).toMatchObject({ starts: NOW, ends: NOW });
  });

  it("shows a bounded number of tables", () => {
    const many = Array.from({ length: MOST_ROWS + 5 }, (_, index) =>
      makeJob({ job_id: String(index), table: `lake.a.t${index}` }),
    );
    const { tables, bars } = layOutGantt(many, NOW);
    expect([tables.length, bars.length]).toEqual([MOST_ROWS, MOST_ROWS]);
  });

  it("names each row by its table", () => {
    const { yAxis } = drawGantt(layOutGantt(jobs, NOW), paletteOf("dark"));
    expect((yAxis as { data: string[] }).data).toContain("page_views");
  });
});
