import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Pauses } from "../api/types";
import { show } from "../testing/render";
import { PauseButton, PauseNotice, PausePanel } from "./Pauses";

const frozen: Pauses = {
  items: [
    {
      scope: "lake.sales",
      by: "ada",
      at: "2026-11-20T09:00:00Z",
      reason: "migration",
      is_drain: false,
    },
    { scope: "*", by: "bob", at: "2026-11-20T09:10:00Z", reason: "", is_drain: true },
  ],
  is_draining: true,
  is_drained: false,
  running_jobs: ["m-1"],
};

/** A daemon with these pauses; the requests that changed something. */
function serve(pauses: Pauses): { method: string; query: string; body: unknown }[] {
  const changes: { method: string; query: string; body: unknown }[] = [];
  const answer = async (request: Request) => {
    if (request.method === "GET") return Response.json(pauses);
    const text = await request.text();
    const query = new URL(request.url).search;
    changes.push({ method: request.method, query, body: text ? JSON.parse(text) : null });
    return request.method === "DELETE"
      ? new Response(null, { status: 204 })
      : Response.json(frozen.items[0], { status: 201 });
  };
  vi.spyOn(globalThis, "fetch").mockImplementation(answer as never);
  return changes;
}

afterEach(() => vi.restoreAllMocks());

describe("a pause", () => {
  it("of a namespace cancels nothing unless it is asked to", async () => {
    const changes = serve({ ...frozen, items: [] });
    await show(<PauseButton scope="lake.sales" />);
    await userEvent.click(screen.getByRole("button", { name: "Pause… lake.sales" }));
    await userEvent.type(await screen.findByRole("textbox", { name: "Reason" }), "migration");
    await userEvent.click(screen.getByRole("button", { name: "Pause" }));
    const body = { scope: "lake.sales", reason: "migration", cancel: false, drain: false };
    await vi.waitFor(() => expect(changes).toEqual([{ method: "POST", query: "", body }]));
  });

  it("of everything can end what runs", async () => {
    const changes = serve({ ...frozen, items: [], running_jobs: [] });
    await show(<PausePanel />);
    expect(await screen.findByText("Nothing is paused.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Pause everything…" }));
    await userEvent.click(await screen.findByRole("checkbox", { name: /Also cancel the jobs/ }));
    await userEvent.click(screen.getByRole("button", { name: "Pause" }));
    const body = { scope: "*", reason: "", cancel: true, drain: false };
    await vi.waitFor(() => expect(changes).toEqual([{ method: "POST", query: "", body }]));
  });

  it("is listed with who, why and its end, and what still runs", async () => {
    const changes = serve(frozen);
    await show(<PausePanel />);
    expect(
      await screen.findByRole("row", { name: /lake\.sales Pause ada .* migration/ }),
    ).toBeVisible();
    expect(screen.getByRole("row", { name: /everything Drain bob/ })).toBeVisible();
    expect(screen.getByText("Jobs that still run there: 1.")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Resume lake.sales" }));
    const resumed = { method: "DELETE", query: "?scope=lake.sales", body: null };
    await vi.waitFor(() => expect(changes).toEqual([resumed]));
  });

  it("of everything is said on the first page", async () => {
    serve(frozen);
    await show(<PauseNotice />);
    expect(await screen.findByText("Everything is drained")).toBeVisible();
  });
});
