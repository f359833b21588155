import { screen, waitFor } from "@testing-library/react";
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
const TOKEN = "a-token-of-sixteen";

/** A daemon that wants the token; the requests that it got. */
function serve(): Request[] {
  const requests: Request[] = [];
  const answer = (request: Request) => {
    requests.push(request);
    const isKnown = request.headers.get("Authorization") === `Bearer ${TOKEN}`;
    const refusal = { title: "Unauthorized", status: 401, detail: "POST needs a token" };
    return Promise.resolve(
      isKnown
        ? Response.json({ ...done, job_id: "m-undone" }, { status: 202 })
        : Response.json(refusal, { status: 401 }),
    );
  };
  vi.spyOn(globalThis, "fetch").mockImplementation(answer as never);
  return requests;
}

afterEach(() => {
  vi.restoreAllMocks();
  sessionStorage.clear();
});

describe("a rollback", () => {
  it("is offered for rewrites that are done or could not be proved", () => {
    expect(mayBeUndone(done)).toBe(true);
    expect(mayBeUndone({ ...done, state: "failed", failure_reason: "unproved" })).toBe(true);
    expect(mayBeUndone({ ...done, state: "failed", failure_reason: "conflict" })).toBe(false);
    expect(mayBeUndone({ ...done, rule: "expire_snapshots" })).toBe(false);
  });

  it("asks for a token where the daemon wants one, keeps it, and says which job undoes", async () => {
    const requests = serve();
    await show(<RollBackButton job={done} />);
    await userEvent.click(screen.getByRole("button", { name: "Roll back…" }));
    await userEvent.click(await screen.findByRole("button", { name: "Roll the job back" }));
    await userEvent.type(await screen.findByLabelText("API token"), TOKEN);
    await userEvent.click(screen.getByRole("button", { name: "Use this token" }));
    await userEvent.click(screen.getByRole("button", { name: "Roll the job back" }));
    expect(await screen.findByRole("link", { name: "Open the rollback job" })).toHaveAttribute(
      "href",
      "/jobs/m-undone",
    );
    await waitFor(() =>
      expect(requests.map((request) => request.headers.get("Authorization"))).toEqual([
        null,
        `Bearer ${TOKEN}`,
      ]),
    );
    expect(requests[1]?.url).toMatch(new RegExp(`/jobs/${done.job_id}/rollback$`));
  });

  it("forgets a token that the daemon does not know", async () => {
    sessionStorage.setItem("iceberg-maintainer.token", "one-of-yesterday");
    serve();
    await show(<RollBackButton job={done} />);
    await userEvent.click(screen.getByRole("button", { name: "Roll back…" }));
    await userEvent.click(await screen.findByRole("button", { name: "Roll the job back" }));
    expect(await screen.findByLabelText("API token")).toBeVisible();
    expect(sessionStorage).toHaveLength(0);
  });
});
