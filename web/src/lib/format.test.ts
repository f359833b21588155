import { describe, expect, it } from "vitest";
import {
  formatBytes,
  formatCount,
  formatDifference,
  formatDuration,
  formatRatio,
  formatShort,
  pluralize,
  splitFirstSentence,
  UNKNOWN,
} from "./format";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("formatCount", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1_536, "1,536"],
    [4_608_000, "4,608,000"],
    [-1_440, "−1,440"],
    [2.25, "2.3"],
    [1_234.5, "1,234.5"],
  ])("writes %d as %s", (value, text) => expect(plain(formatCount(value))).toBe(text));

  it("does not make a number of what is not known", () => expect(formatCount(null)).toBe(UNKNOWN));
});

describe("formatBytes", () => {
  it.each([
    [0, "0 B"],
    [1_023, "1023 B"],
    [1_024, "1 KiB"],
    [36_142, "35.3 KiB"],
    [1_530_000, "1.5 MiB"],
    [128 * 1024 ** 2, "128 MiB"],
    [1_048_575, "1.0 MiB"],
    [731_234_567_890, "681.0 GiB"],
    [3 * 1024 ** 6, "3072 PiB"],
    [-5_313_888, "−5.1 MiB"],
  ])("writes %d as %s", (value, text) => expect(plain(formatBytes(value))).toBe(text));

  it("does not make a size of what is not known", () =>
    expect(formatBytes(undefined)).toBe(UNKNOWN));
});

describe("formatRatio", () => {
  it.each([
    [0, "0 %"],
    [0.0001, "<1 %"],
    [0.934, "93 %"],
    [0.999, ">99 %"],
    [1, "100 %"],
  ])("writes %d as %s", (value, text) => expect(plain(formatRatio(value))).toBe(text));
});

describe("formatDuration", () => {
  it.each([
    [0, "0 s"],
    [4.26, "4.3 s"],
    [41.3, "41 s"],
    [59.9, "1 min"],
    [60, "1 min"],
    [7_512, "2 h 5 min"],
    [90_061, "1 d 1 h"],
  ])("writes %d s as %s", (value, text) => expect(plain(formatDuration(value))).toBe(text));
});

describe("formatDifference", () => {
  it("carries the sign", () =>
    expect(plain(formatDifference(1_536, 96, formatCount))).toBe("−1,440"));
  it("says so when nothing changed", () =>
    expect(formatDifference(5, 5, formatCount)).toBe("no change"));
  it("claims nothing when one side is not known", () =>
    expect(formatDifference(null, 5, formatCount)).toBe(UNKNOWN));
});

it("counts one thing in the singular", () => {
  expect(pluralize(1, "file")).toBe("1 file");
  expect(pluralize(0, "file")).toBe("0 files");
  expect(pluralize(2, "table property", "table properties")).toBe("2 table properties");
});

it("does not end a sentence at a decimal point", () => {
  expect(splitFirstSentence("Files are 35.3 KiB on average. They are many.")).toEqual([
    "Files are 35.3 KiB on average.",
    "They are many.",
  ]);
  expect(splitFirstSentence("640 manifests, above 100.")).toEqual([
    "640 manifests, above 100.",
    "",
  ]);
});

it("writes a large count short, with three digits", () => {
  const written = [999, 9_999, 12_345, 999_960, 79_752_570, 4.2e9, -25_000, null].map(formatShort);
  expect(written.map(plain)).toEqual([
    "999",
    "9,999",
    "12.3 k",
    "1 M",
    "79.8 M",
    "4.2 G",
    "−25 k",
    "–",
  ]);
});
