import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { makeJob, makeProgress } from "../../../../dev/fixtures/jobs";
import { makeAdvice, makeDetail, makeTable, tables } from "../../../../dev/fixtures/tables";
import { JobList } from "../../../components/JobList";
import { JobProgress, StageList } from "../../../components/JobProgress";
import { show } from "../../../testing/render";
import { RunningJob } from "../RunningJob";
import { Answers } from "./Answers";

const bar = () => screen.getByRole("progressbar", { name: "Progress of the job" });

describe("what happens next on a table", () => {
  it("is the job above it while one is running", async () => {
    const sensors = tables.find((table) => table.name === "sensor_readings");
    if (!sensors) throw new Error("the fixture has a table with a running job");
    const table = makeDetail(sensors);
    await show(<Answers table={table} />);
    expect(screen.queryByText("What happens next?")).not.toBeInTheDocument();
    expect(screen.queryByText("Why does nothing start?")).not.toBeInTheDocument();
    if (!table.outlook.job) throw new Error("the table has a running job");
    await show(<RunningJob outlook={table.outlook} job={table.outlook.job} />);
    expect(screen.getByText(/^Rewriting manifests is running/)).toHaveTextContent(
      "After that nothing starts: person paused",
    );
    expect(screen.getByRole("link", { name: "Open the job" })).toHaveAttribute(
      "href",
      "/jobs/rm-sensor-readings-2x9c",
    );
    expect(bar()).toHaveAttribute("aria-valuenow", "10");
    expect(screen.getByText("Running on Spark", { selector: "li" })).toHaveAttribute(
      "aria-current",
      "step",
    );
  });

  it("is that nothing starts while the table is paused", async () => {
    const outlook = {
      kind: "paused",
      sentence: "Nothing starts until this ends: ann paused lake.*.",
      why: "",
      next_at: null,
      job: null,
    } as const;
    await show(<Answers table={{ ...makeDetail(makeTable()), outlook }} />);
    expect(screen.getByText(outlook.sentence)).toBeInTheDocument();
    expect(screen.queryByText(/[Nn]ext check|Rechecked|Why does nothing/)).not.toBeInTheDocument();
  });

  it("is the next check where nothing is due, and why nothing is", async () => {
    await show(<Answers table={makeDetail(makeTable({ band: "healthy" }))} />);
    expect(screen.getByText(/Next check/)).toHaveTextContent(/in \d/);
    expect(screen.getByText("Why does nothing start?")).toBeInTheDocument();
    expect(screen.getByText(/^Compacting data files would achieve nothing/)).toBeInTheDocument();
  });
});

it("says what would help where maintenance cannot, in the daemon's sentence", async () => {
  const table = makeDetail(makeTable({ band: "healthy" }));
  const { unmount } = await show(<Answers table={table} />);
  expect(screen.queryByText("What would help?")).not.toBeInTheDocument();
  unmount();
  await show(<Answers table={{ ...table, partition_advice: makeAdvice() }} />);
  expect(screen.getByText("What would help?")).toBeInTheDocument();
  expect(screen.getByText(makeAdvice().sentence)).toBeInTheDocument();
});

describe("the bar of a job", () => {
  it("is empty and still while the job waits", async () => {
    await show(<JobProgress progress={makeProgress()} />);
    expect(bar()).toHaveAttribute("aria-valuenow", "0");
    expect(bar()).not.toHaveAttribute("data-animated");
    expect(screen.getByText("Waiting for a slot")).toBeInTheDocument();
  });

  it("moves without growing where nothing can be counted, and is still where it grows", async () => {
    const working = { stage: "working", phase: "running on Spark", share: 0.1 } as const;
    const { unmount } = await show(<JobProgress progress={makeProgress(working)} />);
    expect(bar()).toHaveAttribute("data-animated");
    unmount();
    await show(
      <JobProgress progress={makeProgress({ ...working, share: 0.5, is_counted: true })} />,
    );
    expect(bar()).toHaveAttribute("aria-valuenow", "50");
    expect(bar()).not.toHaveAttribute("data-animated");
  });

  it("stands in the list of jobs too, for those that are not over", async () => {
    await show(
      <JobList
        jobs={[
          makeJob({ state: "pending", effect: null, progress: makeProgress() }),
          makeJob({ job_id: "done" }),
        ]}
      />,
    );
    expect(screen.getAllByRole("progressbar")).toHaveLength(1);
    expect(bar()).toHaveAttribute("aria-valuenow", "0");
  });

  it("names the stages and marks the present one", async () => {
    await show(<StageList stage="working" />);
    expect(screen.getAllByRole("listitem").map((stage) => stage.textContent)).toHaveLength(6);
    expect(screen.getByText("Running on Spark")).toHaveAttribute("aria-current", "step");
    expect(screen.getByText("Preparing")).toHaveClass("stage-done");
    expect(screen.getByText("Proving")).not.toHaveClass("stage-done");
  });
});
