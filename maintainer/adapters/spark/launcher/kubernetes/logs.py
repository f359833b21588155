"""Parts of pods' logs by the time of their lines.

A cluster rotates the files of a log, and returns a log from a time on, not from an offset. So a
position is the time of the last line that was read, in nanoseconds. The node's clock writes this
time before each line.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from maintainer.adapters.spark.link import LogPart

_NANOSECONDS = 1_000_000_000
_LINE = re.compile(
    rb"(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9})\d*)?"
    rb"(?P<zone>Z|[+-]\d\d:\d\d) ?(?P<text>.*)"
)
MAX_PART_BYTES = 1024 * 1024


def second_of(since: int) -> str:
    """Return the second of a position in the format of the API server."""
    return datetime.fromtimestamp(since // _NANOSECONDS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_part(content: bytes, since: int, limit: int = MAX_PART_BYTES) -> LogPart:
    """Return the lines after a position; a line that the limit has cut is in the next part."""
    is_cut = len(content) >= limit
    lines = content.split(b"\n")
    last = lines.pop()
    if last and not is_cut:
        lines.append(last)
    texts, position = [], since
    for line in lines:
        found = _LINE.fullmatch(line)
        at = position if found is None else _read_time(found)
        if found is None or at > since:
            texts.append((line if found is None else found["text"]).decode(errors="replace"))
            position = max(position, at)
    if is_cut and position == since:
        # The lines of one second do not fit into a part, and the rest of them cannot be requested.
        position = (since // _NANOSECONDS + 1) * _NANOSECONDS
        texts.append("(lines of this second are left out)")
    return LogPart("".join(f"{text}\n" for text in texts), position, is_cut)


def _read_time(found: re.Match[bytes]) -> int:
    zone = found["zone"].decode().replace("Z", "+00:00")
    instant = datetime.fromisoformat(found["second"].decode() + zone)
    fraction = (found["fraction"] or b"").decode().ljust(9, "0")
    return int(instant.timestamp()) * _NANOSECONDS + int(fraction)
