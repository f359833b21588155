import { NativeSelect } from "@mantine/core";

interface MetricSelectProps<Metric extends string> {
  label?: string;
  metrics: Record<Metric, { label: string }>;
  metric: Metric;
  onChange: (metric: Metric) => void;
}

/** The metric that a chart shows. */
export function MetricSelect<Metric extends string>({
  label = "Metric",
  metrics,
  metric,
  onChange,
}: MetricSelectProps<Metric>) {
  const names = Object.keys(metrics) as Metric[];
  return (
    <NativeSelect
      size="xs"
      aria-label={label}
      data={names.map((name) => ({ value: name, label: metrics[name].label }))}
      value={metric}
      onChange={({ currentTarget: { value } }) => {
        const chosen = names.find((name) => name === value);
        if (chosen) onChange(chosen);
      }}
    />
  );
}
