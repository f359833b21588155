import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { pools } from "../../../dev/fixtures/fleet";
import { show } from "../../testing/render";
import { listObstacles, PoolGrid } from "./PoolPanel";

describe("the pools of Spark", () => {
  it("show the versions of their drivers", async () => {
    await show(<PoolGrid pools={pools.filter(({ name }) => name === "default")} />);
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells.slice(1, 5)).toEqual(["4.1.4", "2.13.17", "17.0.15", "1.12.0"]);
  });

  it("say below the table what is switched off", async () => {
    await show(<PoolGrid pools={pools} />);
    expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
      "Pool cluster: compute_partition_stats: before Iceberg 1.10 Spark has no procedure compute_partition_stats",
    ]);
  });

  it("say why nothing runs in a pool or on a catalog", () => {
    expect(listObstacles(pools)).toEqual([
      "Pool cluster: Spark's driver runs Spark 3.4.4; jobs need 3.5 or newer",
      "Pool cluster, catalog partner: connection refused",
    ]);
  });

  it("have no versions before a driver has started", async () => {
    await show(<PoolGrid pools={pools.filter(({ name }) => name === "nightly")} />);
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells.slice(1, 6)).toEqual(["–", "–", "–", "–", "–"]);
  });
});
