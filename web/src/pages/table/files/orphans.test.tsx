import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeOrphanList, orphanFiles, orphanLists } from "../../../../dev/fixtures/orphans";
import { client } from "../../../api/client";
import type { OrphanList } from "../../../api/types";
import { show } from "../../../testing/render";
import { OrphanPanel } from "./OrphanPanel";

const path = { catalog: "lake", namespace: "streaming", table: "page_views" };

interface Decision {
  url: string;
  body: unknown;
}

/** A daemon with these lists; what it was asked to decide. */
function serve(lists: OrphanList[]): Decision[] {
  const decisions: Decision[] = [];
  const answer = (data: unknown) => Promise.resolve({ data, response: new Response() });
  const get = (url: string) =>
    answer(url.endsWith("/orphans") ? { items: lists } : { ...orphanFiles, list: lists[0] });
  const post = (url: string, { body }: { body: unknown }) => {
    decisions.push({ url, body });
    return answer(lists[0]);
  };
  vi.spyOn(client, "GET").mockImplementation(get as never);
  vi.spyOn(client, "POST").mockImplementation(post as never);
  return decisions;
}

afterEach(() => vi.restoreAllMocks());

describe("orphan files of a table", () => {
  it("are not spoken of where there are none", async () => {
    serve([]);
    await show(<OrphanPanel path={path} />);
    await waitFor(() => expect(client.GET).toHaveBeenCalled());
    expect(screen.queryByText("Orphan files")).not.toBeInTheDocument();
  });

  it("say what became of each list, and by whose word", async () => {
    serve(orphanLists);
    await show(<OrphanPanel path={path} />);
    expect(await screen.findByText("Waiting for approval")).toBeVisible();
    expect(screen.getByText("by ada")).toBeVisible();
    expect(screen.getByRole("link", { name: "job m-9f8e7d6c5b4a" })).toHaveAttribute(
      "href",
      "/jobs/m-9f8e7d6c5b4a",
    );
  });

  it("are approved by name, and as exactly the list that was looked at", async () => {
    const decisions = serve([makeOrphanList()]);
    await show(<OrphanPanel path={path} />);
    await userEvent.click(await screen.findByRole("button", { name: "Files" }));
    expect(await screen.findByText(/day=2026-01-01/)).toBeVisible();
    expect(screen.getByRole("button", { name: "Approve" })).toBeDisabled();
    await userEvent.type(screen.getByLabelText("Your name"), "ada");
    await userEvent.click(screen.getByRole("button", { name: "Approve" }));
    await waitFor(() => expect(decisions).toHaveLength(1));
    expect(decisions[0]?.url).toMatch(/\/orphans\/\{list\}\/approve$/);
    expect(decisions[0]?.body).toEqual({ by: "ada", sha256: makeOrphanList().sha256 });
  });

  it("can be rejected", async () => {
    const decisions = serve([makeOrphanList()]);
    await show(<OrphanPanel path={path} />);
    await userEvent.click(await screen.findByRole("button", { name: "Files" }));
    await userEvent.type(await screen.findByLabelText("Your name"), "bob");
    await userEvent.click(screen.getByRole("button", { name: "Reject" }));
    await waitFor(() => expect(decisions[0]?.body).toEqual({ by: "bob" }));
  });

  it("come back from quarantine", async () => {
    const decisions = serve([makeOrphanList({ state: "quarantined" })]);
    await show(<OrphanPanel path={path} />);
    await userEvent.click(await screen.findByRole("button", { name: "Files" }));
    await userEvent.type(await screen.findByLabelText("Your name"), "bob");
    await userEvent.click(screen.getByRole("button", { name: "Restore" }));
    await waitFor(() => expect(decisions[0]?.url).toMatch(/restore$/));
  });

  it("that wait no more are only looked at", async () => {
    serve([makeOrphanList({ is_expired: true })]);
    await show(<OrphanPanel path={path} />);
    expect(await screen.findByText("Waiting for approval, expired")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Files" }));
    expect(await screen.findByText(/day=2026-01-01/)).toBeVisible();
    expect(screen.queryByRole("button", { name: "Approve" })).not.toBeInTheDocument();
  });
});
