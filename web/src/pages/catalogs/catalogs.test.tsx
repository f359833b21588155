import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { catalogs } from "../../../dev/fixtures/fleet";
import { catalogStorage } from "../../../dev/fixtures/storage";
import { show } from "../../testing/render";
import { ScanPanel } from "./ScanPanel";
import { NameServices, StorageGrid } from "./StoragePanel";

/** The texts of the cells in the row of a catalog or a name service. */
function cellsOf(name: string): string[] {
  const row = screen.getByRole("rowheader", { name }).closest("tr");
  if (row === null) throw new Error(`${name} has no row`);
  return within(row)
    .getAllByRole("cell")
    .map((cell) => cell.textContent.replaceAll("\u00a0", " "));
}

describe("the scans of the catalogs", () => {
  it("say what the last one cost and how old the oldest measurement is", async () => {
    await show(<ScanPanel catalogs={catalogs} />);
    expect(cellsOf("archive")).toEqual([
      "Yes",
      "3 min ago",
      "41 s",
      "6",
      "234",
      "18 of 960",
      "3.9 MiB",
      "5 h ago",
      "no",
    ]);
  });

  it("show an incomplete scan, how far it is behind, and a catalog that does not answer", async () => {
    await show(<ScanPanel catalogs={catalogs} />);
    expect(cellsOf("lake")[1]).toBe("19 min agoincomplete");
    expect(cellsOf("lake").at(-1)).toBe("13 min");
    expect(cellsOf("partner")[0]).toBe("No");
  });

  it("invent nothing before the first scan", async () => {
    const [first] = catalogs;
    if (first === undefined) throw new Error("there is no catalog");
    const unscanned = { ...first, is_reachable: null, scans: [], behind_seconds: null };
    await show(<ScanPanel catalogs={[{ ...unscanned, oldest_measured_at: null }]} />);
    expect(cellsOf("archive")).toEqual(["Not scanned yet", "–", "–", "–"]);
  });
});

describe("the storage of the catalogs", () => {
  it("has its speed, and its prices where there are some", async () => {
    await show(<StorageGrid catalogs={catalogStorage} />);
    expect(cellsOf("lake")).toEqual([
      "object store",
      "6.6 ms",
      "106.8 MiB/s",
      "1",
      "0.4",
      "5",
      "5",
      "0.023",
    ]);
    expect(cellsOf("archive")).toEqual(["HDFS", "0.5 ms", "106.8 MiB/s", "16", "–", "–", "–", "–"]);
    expect(screen.queryByRole("rowheader", { name: "partner" })).not.toBeInTheDocument();
  });

  it("says so when nothing is measured", async () => {
    await show(<StorageGrid catalogs={[]} />);
    expect(screen.getByText("No table is measured yet")).toBeInTheDocument();
  });

  it("has the objects and the heap of each name service, and what is not known", async () => {
    await show(<NameServices catalogs={catalogStorage} />);
    expect(cellsOf("ns1")).toEqual([
      "archive",
      "240",
      "3,931,400",
      "1,940,000",
      "31,400",
      "1,960,000",
      "2.4 GiB",
      "3.2 GiB",
    ]);
    expect(screen.getByText(/2 tables of unknown files left out/)).toBeInTheDocument();
  });

  it("shows no name services where there are none", async () => {
    await show(<NameServices catalogs={catalogStorage.slice(1)} />);
    expect(screen.queryByText("Name services")).not.toBeInTheDocument();
  });
});
