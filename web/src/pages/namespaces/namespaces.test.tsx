import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { namespaces } from "../../../dev/fixtures/fleet";
import { tables } from "../../../dev/fixtures/tables";
import { paletteOf } from "../../lib/palette";
import { drawTreeMap } from "../../lib/treeMap";
import { show } from "../../testing/render";
import { NamespaceGrid } from "./NamespacesPage";
import { MapOfTables } from "./TableMap";

describe("the namespaces", () => {
  it("lead to their tables, to those of a state, and to their history", async () => {
    await show(<NamespaceGrid namespaces={namespaces} />);
    const leads = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
    expect(leads("lake.sales")).toBe("/tables?catalog=lake&namespace=sales");
    expect(leads("Being maintained 1")).toBe(
      "/tables?catalog=lake&namespace=sales&state=being_maintained",
    );
    expect(leads("Over time: lake.sales")).toBe("/?catalog=lake&namespace=sales");
  });

  it("are none before the first table", async () => {
    await show(<NamespaceGrid namespaces={[]} />);
    expect(screen.getByText("No namespaces yet")).toBeInTheDocument();
  });
});

describe("the map of the largest tables", () => {
  const measured = tables.filter((table) => table.data_bytes && table.band !== null);

  it("has a table with the same contents", async () => {
    await show(<MapOfTables tables={tables} />);
    const rows = within(screen.getByRole("group", { name: "Tables by data size" }));
    expect(rows.getAllByRole("row")).toHaveLength(1 + measured.length);
  });

  it("holds each measured table under its namespace", () => {
    const { series } = drawTreeMap(tables, paletteOf("light")) as {
      series: { data: { name: string; children: { name: string }[] }[] }[];
    };
    const names = (series[0]?.data ?? []).flatMap(({ name, children }) =>
      children.map((child) => `${name}.${child.name}`),
    );
    expect(names.sort()).toEqual(measured.map(({ table }) => table).sort());
  });

  it("says when there is nothing to draw", async () => {
    await show(<MapOfTables tables={[]} />);
    expect(screen.getByText("No measured table has data yet")).toBeInTheDocument();
  });
});
