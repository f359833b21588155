import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { expiry, pins, snapshots } from "../../../../dev/fixtures/snapshots";
import { client } from "../../../api/client";
import { paletteOf } from "../../../lib/palette";
import { drawSnapshots } from "../../../lib/snapshotChart";
import { show } from "../../../testing/render";
import { PinPanel } from "./PinPanel";
import { SnapshotPanel } from "./SnapshotPanel";

const path = { catalog: "lake", namespace: "streaming", table: "page_views" };
const asked: unknown[] = [];

beforeEach(() => {
  asked.length = 0;
  const answers: Record<string, unknown> = { snapshots, pins, expiry };
  const answer = (data: unknown) => Promise.resolve({ data, response: new Response() });
  const get = (url: string) => answer(answers[url.split("/").at(-1) ?? ""]);
  const change = (_url: string, sent: { body?: unknown; params: unknown }) => {
    asked.push(sent.body ?? sent.params);
    return answer(pins.pins[0]);
  };
  vi.spyOn(client, "GET").mockImplementation(get as never);
  vi.spyOn(client, "POST").mockImplementation(change as never);
  vi.spyOn(client, "DELETE").mockImplementation(change as never);
});
afterEach(() => vi.restoreAllMocks());

it("lists the newest snapshots, what holds them, and what expiry would take", async () => {
  await show(<SnapshotPanel table="lake.streaming.page_views" path={path} />);
  const grid = await screen.findByRole("group", { name: "Snapshots, newest first" });
  expect(within(grid).getAllByRole("row")).toHaveLength(13);
  expect(within(grid).getByText("main")).toBeInTheDocument();
  expect(await screen.findByText(/^54 of 96 snapshots are older/)).toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: "Earlier" }));
  expect(within(grid).getByText("pin replica")).toBeInTheDocument();
  expect(within(grid).getAllByText("would expire")).toHaveLength(62 - 41);
});

it("pins a snapshot by a name and an end", async () => {
  await show(<SnapshotPanel table="lake.streaming.page_views" path={path} />);
  const [newest] = snapshots.items;
  const name = `Pin snapshot ${newest?.snapshot_id ?? ""}…`;
  await userEvent.click(await screen.findByRole("button", { name }));
  const dialog = await screen.findByRole("dialog");
  await userEvent.type(within(dialog).getByLabelText(/^Name/), "audit");
  await userEvent.selectOptions(within(dialog).getByLabelText("For"), "until it is removed");
  await userEvent.click(within(dialog).getByRole("button", { name: "Pin" }));
  await waitFor(() =>
    expect(asked).toEqual([{ name: "audit", snapshot_id: newest?.snapshot_id, until: null }]),
  );
});

it("removes a pin", async () => {
  await show(<PinPanel table="lake.streaming.page_views" path={path} />);
  expect(await screen.findByText(/^pin replica of ada/)).toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: "Remove pin replica" }));
  await waitFor(() => expect(asked).toEqual([{ path: { ...path, name: "replica" } }]));
});

it("draws each snapshot once, and what points to it beside it", () => {
  const { series } = drawSnapshots(snapshots.items, paletteOf("light"));
  expect((series as { data: unknown[] }[]).map((each) => each.data.length)).toEqual([54, 42, 2, 1]);
});
