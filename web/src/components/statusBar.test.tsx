import { expect, test } from "vitest";
import { status } from "../../dev/fixtures/status";
import type { FleetStatus } from "../api/types";
import { toneOf } from "./StatusBar";

const calm = { ...status.states, unreadable: 0, damaged: 0 };
const well: FleetStatus = { ...status, states: calm, needs_total: 0, is_well: true };

test.each([
  [well, "healthy"],
  [{ ...well, is_well: false }, "neutral"],
  [{ ...well, is_well: false, needs_total: 1 }, "watch"],
  [{ ...well, states: { ...calm, unreadable: 1 } }, "critical"],
  [{ ...well, states: { ...calm, damaged: 1 } }, "critical"],
])("the colour of the status bar follows the daemon's status", (given, tone) => {
  expect(toneOf(given)).toBe(tone);
});
