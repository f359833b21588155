import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { makeJob } from "../../dev/fixtures/jobs";
import { show } from "../testing/render";
import { JobList } from "./JobList";
import { KeyButton } from "./KeyButton";

const jobs = ["expire_snapshots", "rewrite_data_files", "rewrite_manifests"] as const;
const LIST = (
  <>
    <input aria-label="Field" />
    <JobList jobs={jobs.map((rule) => makeJob({ job_id: rule, rule }))} />
    <KeyButton />
  </>
);
const link = (name: string) => screen.getByRole("link", { name });

describe("the keys of the page", () => {
  it("go to the next row and back, and stop at the ends", async () => {
    const user = userEvent.setup();
    await show(LIST);
    await user.keyboard("j");
    expect(link("Expire snapshots")).toHaveFocus();
    await user.keyboard("jjjj");
    expect(link("Rewrite manifests")).toHaveFocus();
    await user.keyboard("k");
    expect(link("Compact data files")).toHaveFocus();
  });

  it("go on from the row in which something else has the focus", async () => {
    const user = userEvent.setup();
    await show(LIST);
    screen.getAllByRole("link", { name: /page_views/ })[0]?.focus();
    await user.keyboard("j");
    expect(link("Compact data files")).toHaveFocus();
  });

  it("are letters in a field", async () => {
    const user = userEvent.setup();
    await show(LIST);
    await user.type(screen.getByLabelText("Field"), "jk?");
    expect(screen.getByLabelText("Field")).toHaveValue("jk?");
    expect(screen.getByLabelText("Field")).toHaveFocus();
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  });

  it("are listed in a dialog, behind which no row moves", async () => {
    const user = userEvent.setup();
    await show(LIST);
    await user.keyboard("?");
    expect(await screen.findByRole("dialog", { name: "Keys" })).toHaveTextContent("Open it");
    await user.keyboard("j");
    expect(link("Expire snapshots")).not.toHaveFocus();
  });
});
