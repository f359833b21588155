import { SegmentedControl } from "@mantine/core";
import { HISTORY_RANGES, isHistoryRange, type HistoryRange } from "../lib/metrics";

interface RangeSwitchProps {
  range: HistoryRange;
  onChange: (range: HistoryRange) => void;
}

/** The time range of a chart. */
export function RangeSwitch({ range, onChange }: RangeSwitchProps) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="Time range"
      data={Object.keys(HISTORY_RANGES)}
      value={range}
      onChange={(value) => isHistoryRange(value) && onChange(value)}
    />
  );
}
