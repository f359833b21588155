import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeJob } from "../../../dev/fixtures/jobs";
import type { Job } from "../../api/types";
import { show } from "../../testing/render";
import { mayBeUndone, RollBackButton } from "./RollBackButton";

const done: Job = {
  ...makeJob(),
  rule: "rewrite_data_files",
  state: "succeeded",
  failure_reason: null,
};

/** A daemon that knows the session or not; the requests that it got. */
function serve(isSignedIn: boolean): Request[] {
  const requests: Request[] = [];
  const answer = (request: Request) => {
    requests.push(request);
    const refusal = { title: "Unauthorized", status: 401, detail: "sign in" };
    return Promise.resolve(
      isSignedIn
        ? Response.json({ ...done, job_id: "m-undone" }, { status: 202 })
        : Response.json(refusal, { status: 401 }),
    );
  };
  vi.spyOn(globalThis, "fetch").mockImplementation(answer as never);
  return requests;
}

afterEach(() => vi.restoreAllMocks());

describe("a rollback", () => {
  it("is offered for rewrites that are done or could not be proved", () => {
    expect(mayBeUndone(done)).toBe(true);
    expect(mayBeUndone({ ...done, state: "failed", failure_reason: "unproved" })).toBe(true);
    expect(mayBeUndone({ ...done, state: "failed", failure_reason: "conflict" })).toBe(false);
    expect(mayBeUndone({ ...done, rule: "expire_snapshots" })).toBe(false);
  });

  it("says which job undoes", async () => {
    const requests = serve(true);
    await show(<RollBackButton job={done} />);
    await userEvent.click(screen.getByRole("button", { name: "Roll back…" }));
    await userEvent.click(await screen.findByRole("button", { name: "Roll the job back" }));
    expect(await screen.findByRole("link", { name: "Open the rollback job" })).toHaveAttribute(
      "href",
      "/jobs/m-undone",
    );
    expect(requests[0]?.url).toMatch(new RegExp(`/jobs/${done.job_id}/rollback$`));
  });

  it("asks to sign in again when the session is over", async () => {
    serve(false);
    await show(<RollBackButton job={done} />);
    await userEvent.click(screen.getByRole("button", { name: "Roll back…" }));
    await userEvent.click(await screen.findByRole("button", { name: "Roll the job back" }));
    expect(await screen.findByRole("button", { name: "Sign in again" })).toBeVisible();
  });
});
