import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { jobs, makePlan } from "../../../dev/fixtures/jobs";
import { makeVerdict, verdicts } from "../../../dev/fixtures/verdicts";
import { Weights } from "../../components/Weights";
import { isDue, mainObstacle, nextStep } from "../../lib/verdicts";
import { show } from "../../testing/render";
import { mergeStory, StoryList } from "./Story";

const plan = makePlan("lake.streaming.page_views");
const [manifests, expiry] = plan.skipped;
if (!manifests || !expiry) throw new Error("the fixture skips two rules");

describe("what happens next", () => {
  it("is what is planned", () => {
    expect(nextStep(plan)).toMatchObject({ kind: "start", rules: [{ rule: "rewrite_data_files" }] });
  });

  it("is else the look at what is due, before looks that come earlier", () => {
    const soon = { ...manifests, next_at: "2026-01-01T00:00:00Z" };
    expect(nextStep({ ...plan, planned: [], skipped: [soon, expiry] })).toMatchObject({
      kind: "look",
      rules: [{ rule: "expire_snapshots" }],
    });
    expect(nextStep({ ...plan, planned: [], skipped: [soon] })).toMatchObject({ kind: "look", at: "2026-01-01T00:00:00Z" });
  });

  it("is else nothing before the table changes", () => {
    expect(nextStep({ ...plan, planned: [], skipped: [manifests] })).toEqual({ kind: "change", rules: [], at: null });
  });
});

it("names what is due and waits as the obstacle, and else what would achieve nothing", () => {
  expect(mainObstacle(plan)).toBe(expiry);
  const idle = { ...manifests, code: "nothing_to_gain" as const };
  expect(mainObstacle({ ...plan, skipped: [manifests, idle] })).toBe(idle);
  expect(mainObstacle({ ...plan, skipped: [manifests] })).toBe(manifests);
  expect(mainObstacle({ ...plan, skipped: [] })).toBeUndefined();
});

describe("a table's story", () => {
  it("tells verdicts and jobs as one, newest first", () => {
    const job = jobs[1];
    if (!job) throw new Error("the fixture has a finished job");
    const told = mergeStory(
      verdicts.filter((verdict) => isDue(verdict.code)),
      [job],
    );
    expect(told.map((entry) => ("job" in entry ? entry.job.state : entry.verdict.code))).toEqual([
      "planned",
      "cooling_down",
      "succeeded",
      "in_flight",
      "planned",
    ]);
  });

  it("says why it ran, whether it helped and why it waits", async () => {
    await show(<StoryList entries={mergeStory(verdicts, jobs.slice(1, 2))} />);
    expect(screen.getAllByText(/^Compacting data files is worth doing/)).toHaveLength(2);
    expect(screen.getByText(/1536 data files became 96/)).toBeInTheDocument();
    expect(screen.getByText(/is due and waits for its pause to end/)).toBeInTheDocument();
    expect(screen.getAllByText("Not needed")).toHaveLength(2);
  });

  it("is empty when nothing was due", async () => {
    await show(<StoryList entries={[]} />);
    expect(screen.getByText("Nothing was due yet")).toBeInTheDocument();
  });
});

describe("cost and priority", () => {
  it("open on demand, term by term", async () => {
    const { cost, score } = makeVerdict();
    await show(<Weights cost={cost} score={score} />);
    expect(screen.getByText(/0.875 chance x/)).not.toBeVisible();
    await userEvent.click(screen.getByText("Cost and priority"));
    expect(screen.getByText("Gb hours p90")).toBeVisible();
    expect(screen.getByText(/jobs of this table/)).toHaveTextContent("jobs of this table, 12 jobs");
  });

  it("show nothing where nothing is known", async () => {
    await show(<Weights cost={null} score={null} />);
    expect(screen.queryByText("Cost and priority")).not.toBeInTheDocument();
  });
});
