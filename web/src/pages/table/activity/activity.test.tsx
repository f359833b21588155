import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { jobs } from "../../../../dev/fixtures/jobs";
import { makeVerdict, verdicts } from "../../../../dev/fixtures/verdicts";
import { Weights } from "../../../components/Weights";
import { isDue } from "../../../lib/verdicts";
import { show } from "../../../testing/render";
import { mergeActivity, ActivityList } from "./Activity";

describe("the activity of a table", () => {
  it("lists verdicts and jobs, newest first", () => {
    const job = jobs[1];
    if (!job) throw new Error("the fixture has a finished job");
    const entries = mergeActivity(
      verdicts.filter((verdict) => isDue(verdict.code)),
      [job],
    );
    expect(entries.map((entry) => ("job" in entry ? entry.job.state : entry.verdict.code))).toEqual(
      ["planned", "cooling_down", "succeeded", "in_flight", "planned"],
    );
  });

  it("says why it ran, whether it helped and why it waits", async () => {
    await show(<ActivityList entries={mergeActivity(verdicts, jobs.slice(1, 2))} />);
    expect(screen.getAllByText(/^Compacting data files is worth doing/)).toHaveLength(2);
    expect(screen.getByText(/1536 data files became 96/)).toBeInTheDocument();
    expect(screen.getByText(/is due and waits for the end of its cooldown/)).toBeInTheDocument();
    expect(screen.getAllByText("Not needed")).toHaveLength(2);
  });

  it("is empty when nothing was due", async () => {
    await show(<ActivityList entries={[]} />);
    expect(screen.getByText("Nothing was due yet")).toBeInTheDocument();
  });
});

describe("cost and score", () => {
  it("open on demand, term by term", async () => {
    const { cost, score } = makeVerdict();
    await show(<Weights cost={cost} score={score} />);
    expect(screen.getByText(/0.875 chance x/)).not.toBeVisible();
    await userEvent.click(screen.getByText("Cost and score"));
    expect(screen.getByText("Gb hours p90")).toBeVisible();
    expect(screen.getByText(/jobs of this table/)).toHaveTextContent("jobs of this table, 12 jobs");
  });

  it("show nothing where nothing is known", async () => {
    await show(<Weights cost={null} score={null} />);
    expect(screen.queryByText("Cost and score")).not.toBeInTheDocument();
  });
});
