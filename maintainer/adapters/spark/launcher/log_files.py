"""Logs of drivers that write to a file of this machine."""

from __future__ import annotations

import contextlib
from pathlib import Path

from maintainer.adapters.spark.link import LogPart

_MAX_PART_BYTES = 256 * 1024


def read_file(path: Path, since: int) -> LogPart:
    """Return whole lines from a position in bytes; an empty part without a file."""
    with contextlib.suppress(OSError), path.open("rb") as log:
        log.seek(since)
        part = log.read(_MAX_PART_BYTES)
        lines = part[: part.rfind(b"\n") + 1]
        is_cut = len(part) == _MAX_PART_BYTES
        if is_cut:
            lines = lines or part
        return LogPart(lines.decode(errors="replace"), since + len(lines), is_cut)
    return LogPart("", since)
