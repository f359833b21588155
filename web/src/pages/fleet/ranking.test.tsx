import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { inbox } from "../../../dev/fixtures/fleet";
import { effect, jobs, makeJob, makeProgress, queue } from "../../../dev/fixtures/jobs";
import { status } from "../../../dev/fixtures/status";
import type { TableStatus } from "../../api/types";
import { layOutDay, placeOf, REACH_MS } from "../../lib/dayLine";
import { findHeadline, findPair, proofOf, sayPair, sumDay } from "../../lib/pair";
import { layOutTrend } from "../../lib/trend";
import { Headline } from "../../components/Headline";
import { show } from "../../testing/render";
import { LiveRows } from "../job/BeforeAfter";
import { DayRows } from "./DayLine";
import { rank, RankList } from "./Ranking";

const NOW = Date.now();
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();
const [first] = status.items;
if (!first) throw new Error("the fixture has tables that are not healthy");
const make = (table: string, state: TableStatus["state"], change: Partial<TableStatus> = {}) => ({
  ...first,
  needs_person: false,
  until: null,
  table,
  state,
  ...change,
});

describe("the ranked list", () => {
  it("parts what is wrong from what is in hand and what was done", async () => {
    const statuses = [
      make("lake.a.paused", "paused"),
      make("lake.a.refused", "waiting", { needs_person: true }),
      make("lake.a.window", "waiting"),
      make("lake.a.busy", "being_maintained"),
      make("lake.a.small", "small_by_nature"),
    ];
    const ranks = rank(statuses, inbox.items, jobs);
    expect(ranks.wrong.map(({ table }) => table)).toEqual(["lake.a.paused", "lake.a.refused"]);
    expect(ranks.inHand.map(({ table }) => table)).toEqual(["lake.a.busy", "lake.a.window"]);
    expect(ranks.others.some(({ kind }) => kind === "observed")).toBe(false);
    expect(ranks.done.every(({ state }) => state === "succeeded")).toBe(true);
    await show(<RankList ranks={ranks} isPartOfDay={false} />);
    const [wrong] = screen.getAllByRole("list");
    if (!wrong) throw new Error("there is a list of what is wrong");
    expect(within(wrong).getByText("Waiting")).toHaveClass("badge-info");
    expect(within(wrong).getByText("Paused")).toHaveClass("badge-watch");
    expect(screen.getByRole("link", { name: "1,536 → 96 files" })).toBeInTheDocument();
  });

  it("says how many of a long group are shown, and where the others are", async () => {
    const done = Array.from({ length: 8 }, (_, index) => makeJob({ job_id: `m-${index}` }));
    await show(<RankList ranks={rank([], [], done)} isPartOfDay />);
    expect(screen.getByRole("heading", { name: "Done in 24 hours 8+" })).toBeInTheDocument();
    expect(screen.getByText("5 shown.", { exact: false })).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "All jobs of the last 24 hours" })).toHaveAttribute(
      "href",
      "/jobs?range=24h&state=succeeded",
    );
  });

  it("says so where there is nothing", async () => {
    await show(<RankList ranks={rank([], [], [])} isPartOfDay={false} />);
    expect(screen.getByText("Nothing needs a person.")).toBeInTheDocument();
    expect(screen.getByText("No table is due for maintenance.")).toBeInTheDocument();
  });
});

describe("six hours back and six ahead", () => {
  it("has a row for each table with its jobs and what is known of the future", async () => {
    const done = makeJob({ table: "lake.a.done", started_at: at(-3), ended_at: at(-2) });
    const old = makeJob({ table: "lake.a.old", started_at: at(-9), ended_at: at(-8) });
    const running = makeJob({
      table: "lake.a.busy",
      state: "running",
      started_at: at(-1),
      ended_at: null,
      finished_at: null,
      progress: makeProgress({ ends_at: at(1) }),
    });
    const statuses = [
      make("lake.a.window", "waiting", { until: at(3) }),
      make("lake.a.tomorrow", "waiting", { until: at(20) }),
    ];
    const rows = layOutDay([done, old, running], { ...queue, items: [] }, statuses, NOW);
    expect(rows.map(({ table, bars }) => [table, bars[0]?.kind])).toEqual([
      ["lake.a.done", "succeeded"],
      ["lake.a.busy", "running"],
      ["lake.a.window", "waiting"],
    ]);
    expect(rows[0]?.bars[0]?.left).toBeCloseTo(25);
    expect(rows[1]?.bars[0]?.width).toBeCloseTo(100 / 6);
    expect(rows[2]?.bars[0]?.left).toBeCloseTo(75);
    expect([placeOf(NOW - REACH_MS, NOW), placeOf(NOW, NOW)]).toEqual([0, 50]);
    await show(<DayRows rows={rows} now={NOW} />);
    expect(screen.getByRole("link", { name: /^lake.a.done: Compact data files/ })).toHaveAttribute(
      "href",
      `/jobs/${done.job_id}`,
    );
  });

  it("marks what starts next and what waits in the queue", () => {
    const rows = layOutDay([], queue, [], NOW);
    expect(rows.map(({ bars }) => bars[0]?.kind)).toContain("planned");
  });
});

describe("a pair of numbers", () => {
  it("is what the job is about", () => {
    const pair = findPair(makeJob());
    expect(pair && sayPair(pair)).toBe("1,536 → 96 files");
    expect(findPair(makeJob({ rule: "remove_orphan_files" }))).toBeNull();
    expect(findPair(makeJob({ effect: null }))).toBeNull();
  });

  it.each([
    ["equal", "proved"],
    ["bounded", "consistent"],
    ["unknown", "not proved"],
    ["different", "rows differ"],
  ] as const)("is stamped by the proof of the rows: %s", (rows, word) => {
    expect(proofOf(makeJob({ effect: { ...effect, rows } }))?.word).toBe(word);
    expect(proofOf(makeJob({ state: "failed" }))?.word).toBe("failed");
    expect(proofOf(makeJob({ state: "running" }))).toBeNull();
  });
});

describe("what the last day achieved", () => {
  const compacted = makeJob({ ended_at: at(-5) });
  const manifests = makeJob({ job_id: "m", rule: "rewrite_manifests", ended_at: at(-1) });
  const measurement = (data_files: number) => ({ ...effect.before, data_files });
  const undone = makeJob({
    job_id: "r",
    rule: "roll_back",
    ended_at: at(-0.5),
    effect: { ...effect, before: measurement(96), after: measurement(1536) },
  });

  it("is of all kinds of jobs, the files first, and not of older days", () => {
    const old = makeJob({ job_id: "old", ended_at: at(-30) });
    const said = sumDay([manifests, compacted, old], NOW).map(sayPair);
    expect(said).toEqual(["1,536 → 96 files", "48 → 4 manifests"]);
    expect(findHeadline([manifests, compacted, old], NOW)).toBe(compacted);
    expect(findHeadline([old], NOW)).toBeNull();
  });

  it("is reduced by what was rolled back", () => {
    expect(sumDay([undone, compacted], NOW).map(sayPair)).toEqual(["1,536 → 1,536 files"]);
    expect(findHeadline([undone, compacted], NOW)).toBe(undone);
  });

  it("is a pair with its proof and a link to the job", async () => {
    await show(<Headline job={compacted} isLinked />);
    expect(screen.getByText("1,536 → 96", { exact: false })).toHaveClass("headline-pair");
    expect(screen.getByText("Proved")).toHaveClass("stamp-healthy");
    expect(screen.getByRole("link", { name: "Compact data files" })).toHaveAttribute(
      "href",
      `/jobs/${compacted.job_id}`,
    );
  });

  it("says the live rows before and after", async () => {
    await show(<LiveRows effect={effect} />);
    expect(screen.getByText("Live rows: 4,608,000 = 4,608,000")).toBeInTheDocument();
  });
});

it("draws a trend in steps, in the middle when nothing changed, and not from one sample", () => {
  const samples = [4, 2, null, 8].map((value, hour) => ({ at: at(hour), value }));
  expect(layOutTrend(samples, 36, 16)).toEqual({
    path: "M3 9.7H13V13H33V3",
    end: [33, 3],
    first: 4,
    last: 8,
  });
  expect(layOutTrend([samples[0], { at: at(1), value: 4 }] as typeof samples, 36, 16)?.end[1]).toBe(
    8,
  );
  expect(layOutTrend(samples.slice(0, 1), 36, 16)).toBeNull();
});
