import type { HistogramBin } from "../api/types";
import { formatBytes } from "./format";

/** A bin's range as people read it: "< 16 KiB", "1–4 MiB", "≥ 1 GiB". */
export function labelBin(bin: HistogramBin): string {
  if (bin.to_bytes === null) return `≥ ${formatBytes(bin.from_bytes)}`;
  if (bin.from_bytes === 0) return `< ${formatBytes(bin.to_bytes)}`;
  const [from = "", fromUnit] = formatBytes(bin.from_bytes).split("\u00a0");
  const [to = "", toUnit = ""] = formatBytes(bin.to_bytes).split("\u00a0");
  return fromUnit === toUnit
    ? `${from}–${to} ${toUnit}`
    : `${from} ${fromUnit ?? ""}–${to} ${toUnit}`;
}

export type BinClass = "small" | "around" | "fine";

/** A bin's side of the small-file limit: all below, across, or above. */
export function classifyBin(bin: HistogramBin, smallBelowBytes: number | null): BinClass {
  if (smallBelowBytes === null) return "fine";
  if (bin.to_bytes !== null && bin.to_bytes <= smallBelowBytes) return "small";
  return bin.from_bytes < smallBelowBytes ? "around" : "fine";
}
