"""Logs of drivers: parts by the time of their lines, and those kept of pods that are gone.

A cluster has no offsets into a log: it rotates the files, and asks for a time. So the position is
the time of the last line read, in nanoseconds, as the node's own clock wrote it before each line.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from maintainer.adapters.spark.launcher import LogPart

_NANOSECONDS = 1_000_000_000
_LINE = re.compile(
    rb"(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9})\d*)?"
    rb"(?P<zone>Z|[+-]\d\d:\d\d) ?(?P<text>.*)"
)
MAX_PART_BYTES = 1024 * 1024
_MAX_KEPT_BYTES = 4 * 1024 * 1024  # of one log: its end
_MAX_KEPT_LOGS = 200


def second_of(since: int) -> str:
    """Return the second of a position as the API server wants it."""
    return datetime.fromtimestamp(since // _NANOSECONDS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_part(content: bytes, since: int, limit: int = MAX_PART_BYTES) -> LogPart:
    """Return the lines after a position; a line that the limit cut is left for the next part."""
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
        # one second holds more than a part: what is left of it cannot be asked for
        position = (since // _NANOSECONDS + 1) * _NANOSECONDS
        texts.append("(lines of this second are left out)")
    return LogPart("".join(f"{text}\n" for text in texts), position)


def _read_time(found: re.Match[bytes]) -> int:
    zone = found["zone"].decode().replace("Z", "+00:00")
    instant = datetime.fromisoformat(found["second"].decode() + zone)
    fraction = (found["fraction"] or b"").decode().ljust(9, "0")
    return int(instant.timestamp()) * _NANOSECONDS + int(fraction)


class KeptLogs:
    """Logs of drivers whose pods are gone: the newest, each with a bounded size."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def keep(self, name: str, content: bytes) -> None:
        """Store the end of a log, with the times of its lines, and drop the oldest logs."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        end = content[-_MAX_KEPT_BYTES:]
        whole = end if len(end) == len(content) else end.partition(b"\n")[2]
        path = self._path(name)
        path.touch(mode=0o600)
        path.write_bytes(whole)
        kept = sorted(self._directory.glob("*.log"), key=lambda each: each.stat().st_mtime_ns)
        for old in kept[:-_MAX_KEPT_LOGS]:
            old.unlink(missing_ok=True)

    def read(self, name: str, since: int) -> LogPart:
        """Return what is kept after a position; an empty part if nothing is."""
        try:
            content = self._path(name).read_bytes()
        except FileNotFoundError:
            return LogPart("", since)
        return read_part(content, since, len(content) + 1)

    def _path(self, name: str) -> Path:
        return self._directory / f"{Path(name).name}.log"
