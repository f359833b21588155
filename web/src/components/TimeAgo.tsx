import { formatDuration } from "../lib/format";
import { useNow } from "../lib/now";
import { formatExact, formatRelative, secondsBetween } from "../lib/time";

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

/** How long something has lasted, the exact beginning in its title. */
export function HowLong({ since }: { since: string }) {
  const now = useNow();
  return (
    <time dateTime={since} title={formatExact(since)}>
      {formatDuration(Math.max(0, secondsBetween(since, new Date(now).toISOString()) ?? 0))}
    </time>
  );
}
