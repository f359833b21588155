"""Files of the run directory that only their owner may read: logs contain names and statements."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO

OWNER_ONLY = 0o600


def open_log(path: Path) -> BinaryIO:
    """Open the log to append; a log of an earlier version becomes unreadable for others."""
    return open(path, "ab", opener=_open_privately)


def _open_privately(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, OWNER_ONLY)
    with contextlib.suppress(OSError):  # owned by another user
        os.fchmod(descriptor, OWNER_ONLY)
    return descriptor
