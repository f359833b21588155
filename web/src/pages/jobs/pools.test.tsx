import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { pools } from "../../../dev/fixtures/fleet";
import { show } from "../../testing/render";
import { PoolGrid } from "./PoolPanel";

describe("the pools of Spark", () => {
  it("show the versions of their drivers", async () => {
    await show(<PoolGrid pools={pools.filter(({ name }) => name === "default")} />);
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells.slice(1, 5)).toEqual(["4.1.4", "2.13.17", "17.0.15", "1.12.0"]);
    expect(cells.at(-1)).toBe("none known");
  });

  it("say why nothing runs, why a catalog cannot be used, and what is switched off", async () => {
    await show(<PoolGrid pools={pools.filter(({ name }) => name === "cluster")} />);
    expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
      "Spark's driver runs Spark 3.4.4; jobs need 3.5 or newer",
      "catalog partner: connection refused",
      "compute_partition_stats: before Iceberg 1.10 Spark has no procedure compute_partition_stats",
    ]);
  });

  it("have no versions before a driver has started", async () => {
    await show(<PoolGrid pools={pools.filter(({ name }) => name === "nightly")} />);
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells.slice(1, 6)).toEqual(["–", "–", "–", "–", "–"]);
  });
});
