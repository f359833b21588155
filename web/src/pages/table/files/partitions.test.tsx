import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { partitions } from "../../../../dev/fixtures/tables";
import { paletteOf } from "../../../lib/palette";
import { drawPartitions, sumRest } from "../../../lib/partitionMap";
import { show } from "../../../testing/render";
import { MapOfPartitions } from "./PartitionMap";

const palette = paletteOf("light");
interface Area {
  name: string;
  value: number;
  label: { show: boolean; formatter: () => string };
  itemStyle: { color: string };
  tooltip: { formatter: () => string };
}
const areasOf = (option: unknown) => (option as { series: [{ data: Area[] }] }).series[0].data;
const [first, last] = [partitions[0], partitions.at(-1)];

describe("the map of partitions", () => {
  it("has an area for each of the largest, and one for all others", () => {
    const rest = sumRest(partitions, 10_000, 1_000_000_000);
    const areas = areasOf(drawPartitions(partitions, rest, palette));
    expect(areas).toHaveLength(partitions.length + 1);
    expect(areas.at(-1)?.name).toBe("9,990 other partitions");
    expect(areas.reduce((sum, { value }) => sum + value, 0)).toBe(1_000_000_000);
    expect([areas[0]?.itemStyle.color, areas[9]?.itemStyle.color]).toEqual([
      palette.critical,
      palette.fine,
    ]);
  });

  it("names the values of an area that is large enough", () => {
    if (!first) throw new Error("no partition");
    const large = { ...first, partition: "day=2026-01-05/region=eu", data_bytes: 900 };
    const small = { ...large, data_bytes: 1 };
    const areas = areasOf(drawPartitions([large, small], null, palette));
    expect(areas.map(({ label }) => label.show)).toEqual([true, false]);
    expect(areas[0]?.label.formatter()).toBe("2026-01-05/eu");
  });

  it("sums nothing where all are drawn or the table's size is unknown", () => {
    expect(sumRest(partitions, partitions.length, 1_000_000_000)).toBeNull();
    expect(sumRest(partitions, 10_000, null)).toBeNull();
    expect(sumRest(partitions, 10_000, 1)).toEqual({ partitions: 9_990, bytes: 0 });
  });

  it("shows a value as text, whatever it holds", () => {
    const [area] = areasOf(
      drawPartitions(first ? [{ ...first, partition: "a=<img src=x>" }] : [], null, palette),
    );
    expect(area?.tooltip.formatter()).toContain("a=&#60;img src=x&#62;");
  });

  it("has its areas as a table", async () => {
    await show(<MapOfPartitions items={partitions} total={10_000} bytes={1_000_000_000} />);
    const table = within(screen.getByRole("group", { name: "Partitions by data size" }));
    expect(table.getAllByRole("row")).toHaveLength(partitions.length + 2);
    expect(table.getByRole("row", { name: new RegExp(`^${last?.partition}`) })).toHaveTextContent(
      /Healthy.*16.*5.5/,
    );
    expect(table.getByRole("row", { name: /^9.990 other partitions/ })).toBeInTheDocument();
  });

  it("says that there is none", async () => {
    await show(<MapOfPartitions items={[]} total={0} bytes={0} />);
    expect(screen.getByText("No partition contains files")).toBeInTheDocument();
  });
});
