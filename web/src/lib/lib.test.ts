import { makeProgress } from "../../dev/fixtures/jobs";
import { describe, expect, it } from "vitest";
import { addEvent, parseExact } from "../api/events";
import type { JobEvent } from "../api/types";
import { readJobsAddress, readTablesAddress } from "./addresses";
import { classifyBin, labelBin } from "./histogram";
import { locateTable } from "./identifier";
import { describeProgress } from "./progress";
import { sortBy } from "./sorts";
import { formatRelative, secondsBetween } from "./time";

const KIB = 1024;
const MIB = 1024 ** 2;
const NOW = Date.parse("2026-11-21T12:00:00Z");
const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("formatRelative", () => {
  it.each([
    ["2026-11-21T11:59:57Z", "just now"],
    ["2026-11-21T11:59:18Z", "42 s ago"],
    ["2026-11-21T11:00:01Z", "59 min ago"],
    ["2026-11-18T12:00:00Z", "3 d ago"],
    ["2026-11-21T12:25:00Z", "in 25 min"],
  ])("says %s as %s", (time, text) => expect(plain(formatRelative(time, NOW))).toBe(text));
});

it("knows no time span with an open end", () => {
  expect(secondsBetween("2026-11-21T12:00:00Z", "2026-11-21T12:01:30Z")).toBe(90);
  expect(secondsBetween("2026-11-21T12:00:00Z", null)).toBeNull();
});

describe("describeProgress", () => {
  const groups = {
    stage: "working",
    phase: "running on Spark",
    file_groups_done: 9,
    file_groups_total: 12,
    share: 0.7,
  } as const;

  it("goes by file groups where there are some", () => {
    const more = {
      tasks_done: 31,
      tasks_total: 64,
      bytes_read: 3 * MIB,
      bytes_written: MIB,
      ends_at: "2026-11-21T12:01:30Z",
    };
    const said = describeProgress(makeProgress({ ...groups, ...more }), NOW);
    expect(plain(said.figures)).toBe(
      "9 of 12 file groups, 3 MiB read, 1 MiB written, about 1 min 30 s left",
    );
    expect([said.stage, said.percent]).toEqual(["Running on Spark", 70]);
  });

  it("counts tasks without a total, because each Spark job adds to it", () => {
    expect(describeProgress(makeProgress({ tasks_done: 31, tasks_total: 64 }), NOW).figures).toBe(
      "31 tasks done",
    );
    expect(describeProgress(makeProgress({ tasks_done: 1, tasks_total: 1 }), NOW).figures).toBe(
      "1 task done",
    );
  });

  it("is empty for a job that waits", () => {
    expect(describeProgress(makeProgress(), NOW)).toEqual({
      stage: "Waiting for a slot",
      figures: "",
      percent: 0,
    });
  });
});

describe("labelBin", () => {
  it.each([
    [0, 16 * KIB, "< 16 KiB"],
    [16 * KIB, 64 * KIB, "16–64 KiB"],
    [256 * KIB, MIB, "256 KiB–1 MiB"],
    [1024 * MIB, null, "≥ 1 GiB"],
  ])("writes %d..%d as %s", (from_bytes, to_bytes, label) =>
    expect(plain(labelBin({ from_bytes, to_bytes, files: 1, bytes: null }))).toBe(label),
  );
});

it("tells which bins hold small files", () => {
  const classify = (from: number, to: number | null) =>
    classifyBin(
      { from_bytes: from * MIB, to_bytes: to === null ? null : to * MIB, files: 1, bytes: null },
      96 * MIB,
    );
  expect(classify(32, 64)).toBe("small");
  expect(classify(64, 128)).toBe("around");
  expect(classify(128, 256)).toBe("fine");
  expect(classify(1024, null)).toBe("fine");
});

describe("locateTable", () => {
  it("reads a plain name", () =>
    expect(locateTable("lake.sales.orders")).toEqual({
      catalog: "lake",
      namespace: "sales",
      table: "orders",
    }));
  it("keeps the quotes of a namespace and drops those of a name", () =>
    expect(locateTable("lake.a.`b.c`.`my table`")).toEqual({
      catalog: "lake",
      namespace: "a.`b.c`",
      table: "my table",
    }));
  it("reads a doubled backtick as one", () =>
    expect(locateTable("lake.a.`x``y`")?.table).toBe("x`y"));
  it("refuses a name of two levels", () => expect(locateTable("lake.orders")).toBeNull());
});

describe("addresses", () => {
  it("leave out what they do not understand", () =>
    expect(
      readTablesAddress({ search: 2026, state: "purple", sort: "colour", catalog: "" }),
    ).toEqual({ search: "2026" }));
  it("keep what they understand", () =>
    expect(readTablesAddress({ state: "due", sort: "-manifests", catalog: "lake" })).toEqual({
      state: "due",
      sort: "-manifests",
      catalog: "lake",
    }));
  it("know job states only", () =>
    expect(readJobsAddress({ state: "asleep", table: "a.b.c" })).toEqual({ table: "a.b.c" }));
  it("keep the filters of the jobs and how they are shown", () => {
    const address = { rule: "roll_back", by: "person ada", range: "7d", view: "timeline" };
    expect(readJobsAddress(address)).toEqual(address);
    expect(readJobsAddress({ rule: "vacuum", range: "2y", view: "pie" })).toEqual({});
  });
});

it("sorts by a column's worst first, then the other way round", () => {
  expect(sortBy("average_file_size_bytes", "-band")).toBe("average_file_size_bytes");
  expect(sortBy("average_file_size_bytes", "average_file_size_bytes")).toBe(
    "-average_file_size_bytes",
  );
  expect(sortBy("manifests", "-band")).toBe("-manifests");
  expect(sortBy("manifests", "-manifests")).toBe("manifests");
  expect(sortBy("manifests", "manifests")).toBe("-manifests");
});

it("tells an event once and in its place, however often a stream repeats it", () => {
  const event = (sequence: number): JobEvent => ({
    sequence,
    at: "2026-11-21T12:00:00Z",
    name: "job.submitted",
    fields: {},
  });
  const told = [event(1), event(3), event(2), event(3)].reduce<JobEvent[]>(addEvent, []);
  expect(told.map((each) => each.sequence)).toEqual([1, 2, 3]);
});

it("keeps every digit of a number that JavaScript cannot hold", () => {
  const read = parseExact('{"snapshot_id": 869191477727135745, "files": 48}') as Record<
    string,
    unknown
  >;
  // Older engines do not tell a number's text: then at least it is not written as if it were a count.
  expect(["869191477727135745", "869191477727135700"]).toContain(read.snapshot_id);
  expect(read.files).toBe(48);
});
