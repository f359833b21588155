import { useNow } from "../lib/now";
import { formatExact, formatRelative } from "../lib/time";

/** A time as people speak of it, the exact one in its title. */
export function TimeAgo({ time }: { time: string | null }) {
  const now = useNow();
  if (!time) return <span>{formatRelative(time, now)}</span>;
  return (
    <time dateTime={time} title={formatExact(time)}>
      {formatRelative(time, now)}
    </time>
  );
}
