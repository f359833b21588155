"""Whether another process that uses the same run directory still lives."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def owner_lives(run_dir: Path, owner: str) -> bool | None:
    """True while a process holds the lock of that owner name; None when none of that name was ever
    seen here: it may live on another machine.
    """
    try:
        descriptor = os.open(run_dir / f"{owner.replace('/', '_')}.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
