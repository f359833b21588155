"""The logs of drivers as files on this machine, which only their owner may read."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import BinaryIO

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


_COMPLAINT = re.compile(
    r"^(Exception in thread|Error: |Error occurred|Caused by: |[\w.]+(Exception|Error): )"
)


def find_complaint(log: str) -> str:
    """Return the first line that looks like an error, or ""."""
    return next((line.strip() for line in log.splitlines() if _COMPLAINT.search(line)), "")


OWNER_ONLY = 0o600


def write_privately(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    path.touch(mode=OWNER_ONLY)
    path.write_text(text, encoding="utf-8")


def open_log(path: Path) -> BinaryIO:
    """Open the log to append; other users can no longer read a log of an earlier version."""
    return open(path, "ab", opener=_open_privately)


def _open_privately(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, OWNER_ONLY)
    with contextlib.suppress(OSError):  # another user owns the file
        os.fchmod(descriptor, OWNER_ONLY)
    return descriptor
