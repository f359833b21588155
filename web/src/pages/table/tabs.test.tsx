import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { makeDetail, makeTable } from "../../../dev/fixtures/tables";
import { readTableAddress } from "../../lib/addresses";
import { show } from "../../testing/render";
import { TableView } from "./TablePage";

const table = makeDetail(makeTable());
const path = { catalog: "lake", namespace: "streaming", table: "page_views" };

it("keeps the tab in the address, and shows nothing of the others", async () => {
  const onChange = vi.fn();
  await show(
    <TableView table={table} path={path} address={{ tab: "policy" }} onChange={onChange} />,
  );
  const tabs = screen.getByRole("tablist", { name: "Parts of this page" });
  expect(within(tabs).getByRole("tab", { selected: true })).toHaveTextContent("Policy");
  expect(screen.getByRole("heading", { name: "Policy" })).toBeInTheDocument();
  expect(screen.queryByRole("heading", { name: "At a glance" })).not.toBeInTheDocument();
  await userEvent.click(within(tabs).getByRole("tab", { name: "Snapshots" }));
  expect(onChange).toHaveBeenCalledWith({ tab: "snapshots" }, true);
});

it("begins with the overview where the address names no known tab", async () => {
  const address = readTableAddress({ tab: "purple", range: "7d" });
  expect(address).toEqual({ range: "7d" });
  await show(<TableView table={table} path={path} address={address} onChange={vi.fn()} />);
  expect(screen.getByRole("tab", { selected: true })).toHaveTextContent("Overview");
  expect(screen.getByRole("heading", { name: "At a glance" })).toBeInTheDocument();
});

it("says how often engines read the table, where they report it", async () => {
  const showOverview = (reads: number | null) =>
    show(
      <TableView
        table={{ ...table, reads_per_day: reads }}
        path={path}
        address={{}}
        onChange={vi.fn()}
      />,
    );
  const { unmount } = await showOverview(48.21);
  const reads = screen.getByText("Reads a day").closest("div");
  expect(reads).toHaveTextContent("48.2");
  unmount();
  await showOverview(null);
  expect(screen.queryByText("Reads a day")).not.toBeInTheDocument();
});
