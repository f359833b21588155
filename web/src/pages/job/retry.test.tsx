import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeJob, makePlan } from "../../../dev/fixtures/jobs";
import type { Job, Plan } from "../../api/types";
import { show } from "../../testing/render";
import { RetryButton, retriedRule } from "./RetryButton";

const failed: Job = { ...makeJob(), state: "failed", failure_reason: "conflict" };
const plan = makePlan(failed.table);

/** A daemon that plans this; the rules that it was asked to run. */
function serve(answered: Plan): string[][] {
  const asked: string[][] = [];
  const answer = async (request: Request) => {
    if (request.method === "GET") return Response.json(answered);
    asked.push(((await request.json()) as { rules: string[] }).rules);
    return Response.json({ jobs: [makeJob()], plan: answered }, { status: 202 });
  };
  vi.spyOn(globalThis, "fetch").mockImplementation(answer as never);
  return asked;
}

afterEach(() => vi.restoreAllMocks());

describe("a job that runs again", () => {
  it("has failed or was cancelled, and is no rollback", () => {
    expect(retriedRule(failed)).toBe("rewrite_data_files");
    expect(retriedRule({ ...failed, state: "cancelled" })).toBe("rewrite_data_files");
    expect(retriedRule({ ...failed, state: "succeeded" })).toBeNull();
    expect(retriedRule({ ...failed, state: "running" })).toBeNull();
    expect(retriedRule({ ...failed, rule: "roll_back" })).toBeNull();
  });

  it("asks for its own rule alone, though the plan has others", async () => {
    const [planned] = plan.planned;
    if (!planned) throw new Error("the fixture plans nothing");
    const asked = serve({ ...plan, planned: [planned, { ...planned, rule: "rewrite_manifests" }] });
    await show(<RetryButton job={failed} rule="rewrite_data_files" />);
    await userEvent.click(screen.getByRole("button", { name: "Run again…" }));
    expect(await screen.findByRole("checkbox", { name: "Compact data files" })).toBeChecked();
    expect(screen.getByRole("checkbox", { name: "Rewrite manifests" })).not.toBeChecked();
    await userEvent.click(screen.getByRole("button", { name: "Run now" }));
    expect(await screen.findByText("Accepted")).toBeVisible();
    expect(asked).toEqual([["rewrite_data_files"]]);
  });

  it("says why its rule cannot run", async () => {
    const [skipped] = plan.skipped;
    if (!skipped) throw new Error("the fixture skips nothing");
    const needless = {
      ...skipped,
      rule: "rewrite_data_files",
      code: "below_threshold",
      reason: "Its files are large enough.",
    } as const;
    serve({ ...plan, planned: [], skipped: [needless] });
    await show(<RetryButton job={failed} rule="rewrite_data_files" />);
    await userEvent.click(screen.getByRole("button", { name: "Run again…" }));
    expect(await screen.findByText("Compact data files cannot run now")).toBeVisible();
    expect(screen.getByText(/Its files are large enough/)).toBeVisible();
    expect(screen.getByRole("button", { name: "Run now" })).toBeDisabled();
  });
});
