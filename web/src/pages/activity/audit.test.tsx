import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../api/types";
import { groupDeeds, sayEvent } from "../../lib/eventWords";
import { show } from "../../testing/render";
import { AuditList } from "./AuditList";

function make(sequence: number, deed: string, change: Partial<AuditEntry> = {}): AuditEntry {
  return {
    sequence,
    at: "2026-11-27T07:33:44Z",
    actor: "vm-1",
    deed,
    table: "lake.sales.orders",
    job_id: "m-1",
    fields: {},
    ...change,
  } as AuditEntry;
}

const JOB = [
  make(9, "job.ended", { fields: { state: "succeeded", message: "44 data files became 4" } }),
  make(8, "statement.started", { fields: { part: "main", statement: "CALL x" } }),
  make(7, "job.submitted"),
  make(6, "job.requested", { actor: "policy 60d57b", fields: { reason: "files are small" } }),
];

describe("the activity", () => {
  it("is one line for each job, in words, with the person who asked for it", async () => {
    const paused = make(5, "work.paused", { job_id: "", actor: "ann" });
    const deeds = groupDeeds([...JOB, paused]);
    expect(deeds.map(({ words, by }) => [words, by])).toEqual([
      ["Succeeded: 44 data files became 4.", "policy 60d57b"],
      ["Work paused", "ann"],
    ]);
    await show(<AuditList entries={[...JOB, paused]} />);
    expect(screen.getAllByRole("row")).toHaveLength(3);
    expect(screen.getAllByText("Details")).toHaveLength(2);
    expect(screen.getByRole("link", { name: /^Succeeded/ })).toHaveAttribute("href", "/jobs/m-1");
  });

  it("says how far a job is that has not ended", () => {
    expect(groupDeeds(JOB.slice(1))[0]?.words).toBe("The daemon gave the job to Spark.");
    expect(groupDeeds(JOB.slice(3))[0]?.words).toBe("Requested because files are small.");
  });
});

it.each([
  ["statement.started", { part: "before" }, /^A tag keeps the present state/],
  [
    "statement.finished",
    { result: { rewritten_data_files_count: 1631, added_data_files_count: 48 } },
    "1,631 data files were rewritten into 48.",
  ],
  ["statement.finished", { result: {} }, "The statement has ended."],
  ["spark.progress", { file_groups_done: 8, file_groups_total: 48 }, "8 of 48 file groups done."],
  ["spark.progress", { tasks_done: 3, tasks_total: 9 }, "3 of 9 tasks done."],
  ["spark.finished", { message: "out of memory" }, "Spark failed: out of memory"],
  ["canary.read", { files: 1, problems: [] }, "1 new file was read back without a problem."],
  ["canary.read", { files: 4, problems: ["a"] }, "4 new files were read back: 1 problem."],
  ["job.renamed", {}, "Job renamed"],
])("an event is written in words: %s", (name, fields, words) => {
  expect(sayEvent(name, fields)).toMatch(words);
});
