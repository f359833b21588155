import { describe, expect, it } from "vitest";
import { effect } from "../../dev/fixtures/jobs";
import { makeDetail, makeTable } from "../../dev/fixtures/tables";
import { drawHistogram, findClasses } from "./histogramChart";
import { paletteOf } from "./palette";

const MIB = 1024 ** 2;
const { histogram } = makeDetail(makeTable());
const starts = (classes: ReturnType<typeof findClasses>) =>
  [classes.at(0), classes.at(-1)].map((each) => each?.bin.from_bytes);

describe("the classes of sizes", () => {
  it("reach from the first file to the last, and to the target", () => {
    expect(starts(findClasses(histogram, null, 128 * MIB))).toEqual([16 * 1024, 128 * MIB]);
    expect(starts(findClasses(histogram, null, 512 * MIB))).toEqual([16 * 1024, 512 * MIB]);
  });

  it("include the files of before, where these were counted in the same classes", () => {
    const [first] = findClasses(histogram, effect.before, 128 * MIB);
    expect([first?.files, first?.before?.files]).toEqual([0, 40]);
    const others = { ...effect.before, histogram: [1, 2, 3] };
    expect(findClasses(histogram, others, 128 * MIB).every((each) => !each.before)).toBe(true);
  });

  it("are drawn with the target, and with outlines of before", () => {
    const classes = findClasses(histogram, effect.before, 128 * MIB);
    const drawn = drawHistogram(classes, "bytes", 128 * MIB, 96 * MIB, paletteOf("light"));
    const [now, before] = drawn.series as [
      { data: { value: number }[]; markLine: { data: { xAxis: number }[] } },
      { data: number[] },
    ];
    expect(classes[now.markLine.data[0]?.xAxis ?? 0]?.bin.from_bytes).toBe(128 * MIB);
    expect(now.data[2]?.value).toBe(histogram[2]?.bytes);
    expect(before.data[0]).toBe(400_000);
  });
});
