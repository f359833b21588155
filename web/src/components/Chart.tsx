import { useComputedColorScheme } from "@mantine/core";
import type { ECharts, EChartsCoreOption } from "echarts/core";
import { useEffect, useRef, useState } from "react";
import { PartMissing } from "./PartMissing";
import { paletteOf, type Palette } from "../lib/palette";

interface ChartProps {
  /** What the chart shows, in words: read out in its place. */
  label: string;
  /** Stable for the same data, so that the chart is drawn anew only when something changed. */
  option: (palette: Palette) => EChartsCoreOption;
  /** In pixels; else that of the style sheet. */
  height?: number;
  /** The datum that was clicked, by its index; stable. */
  onPick?: (index: number) => void;
}

/** An ECharts chart in the page's colours; the library is loaded with the first one. */
export function Chart({ label, option, height, onPick }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<ECharts | null>(null);
  const [isMissing, setMissing] = useState(false);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });

  useEffect(() => {
    let made: ECharts | undefined;
    let isGone = false;
    const observer = new ResizeObserver(() => made?.resize());
    import("../lib/echarts").then(
      ({ init }) => {
        if (isGone || !element.current) return;
        made = init(element.current, null, { renderer: "svg" });
        observer.observe(element.current);
        setChart(made);
      },
      () => setMissing(true),
    );
    return () => {
      isGone = true;
      observer.disconnect();
      made?.dispose();
    };
  }, []);

  useEffect(() => {
    if (chart && !chart.isDisposed())
      chart.setOption(option(paletteOf(scheme)), { notMerge: true });
  }, [chart, option, scheme]);

  useEffect(() => {
    if (!chart || chart.isDisposed() || !onPick) return;
    const pick = ({ dataIndex }: { dataIndex: number }) => onPick(dataIndex);
    chart.on("click", pick);
    return () => {
      if (!chart.isDisposed()) chart.off("click", pick);
    };
  }, [chart, onPick]);

  if (isMissing) return <PartMissing />;
  return (
    <div
      ref={element}
      className="chart"
      role="img"
      aria-label={label}
      style={height === undefined ? undefined : { height }}
    />
  );
}
