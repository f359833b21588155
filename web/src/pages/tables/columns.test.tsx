import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { makeTable } from "../../../dev/fixtures/tables";
import { readTablesAddress } from "../../lib/addresses";
import {
  DEFAULT_COLUMNS,
  parseColumns,
  recallColumns,
  rememberColumns,
  TABLE_COLUMNS,
  writeColumns,
  type TableColumn,
} from "../../lib/tableColumns";
import { show } from "../../testing/render";
import { ColumnMenu } from "./ColumnMenu";
import { TableRow } from "./TableRow";

afterEach(() => localStorage.clear());

function Chosen() {
  const [text, setText] = useState<string>();
  return (
    <>
      <output>{text ?? "default"}</output>
      <ColumnMenu columns={parseColumns(text) ?? DEFAULT_COLUMNS} onChange={setText} />
    </>
  );
}

describe("the columns of the list of tables", () => {
  it("are read from an address in their own order, without unknown ones", () => {
    expect(parseColumns("snapshots,colour,data_files")).toEqual(["data_files", "snapshots"]);
    expect(parseColumns("colour")).toBeUndefined();
    expect(parseColumns("none")).toEqual([]);
    expect(readTablesAddress({ columns: "snapshots,data_files" }).columns).toBe(
      "data_files,snapshots",
    );
    expect(readTablesAddress({ columns: "colour" })).toEqual({});
  });

  it("leave the address as it is while nothing else is chosen", () => {
    expect(writeColumns(DEFAULT_COLUMNS)).toBeUndefined();
    expect(writeColumns([])).toBe("none");
  });

  it("are remembered by the browser until they are reset", () => {
    rememberColumns("data_files");
    expect(recallColumns()).toBe("data_files");
    rememberColumns(undefined);
    expect(recallColumns()).toBeUndefined();
    localStorage.setItem("iceberg-maintainer-table-columns", "colour");
    expect(recallColumns()).toBeUndefined();
  });

  it("are the cells of a row", async () => {
    const columns = Object.keys(TABLE_COLUMNS) as TableColumn[];
    const row = (shown: TableColumn[]) => (
      <table>
        <tbody>
          <TableRow table={makeTable()} columns={shown} />
        </tbody>
      </table>
    );
    const { unmount } = await show(row(columns));
    expect(screen.getAllByRole("cell")).toHaveLength(1 + columns.length);
    unmount();
    await show(row(["records", "data_bytes"]));
    expect(
      screen.getAllByRole("cell").map((cell) => cell.textContent.replaceAll("\u00a0", " ")),
    ).toEqual(["Duecritical", "4.61 M", "52.9 MiB"]);
  });

  it("are chosen in a dialog, and reset", async () => {
    const user = userEvent.setup();
    await show(<Chosen />);
    await user.click(screen.getByRole("button", { name: "Columns…" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Columns" }));
    await user.click(dialog.getByRole("checkbox", { name: "Records" }));
    await user.click(dialog.getByRole("checkbox", { name: "Findings" }));
    expect(screen.getByText(/^average_file_size_bytes/)).toHaveTextContent(
      /delete_files,records,manifests$/,
    );
    await user.click(dialog.getByRole("button", { name: "Reset" }));
    expect(screen.getByText("default")).toBeInTheDocument();
    expect(dialog.getByRole("checkbox", { name: "Findings" })).toBeChecked();
  });
});
