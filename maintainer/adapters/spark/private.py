"""Files of the run directory that their owner alone may read: logs hold names and statements."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO

OWNER_ONLY = 0o600


def open_log(path: Path) -> BinaryIO:
    """The log, to go on writing it; one of an earlier version loses the rights of others."""
    return open(path, "ab", opener=_open_privately)


def _open_privately(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, OWNER_ONLY)
    with contextlib.suppress(OSError):  # another owner's
        os.fchmod(descriptor, OWNER_ONLY)
    return descriptor
