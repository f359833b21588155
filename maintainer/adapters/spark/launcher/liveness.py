"""Says whether another process with the same run directory lives."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def owner_lives(run_dir: Path, owner: str) -> bool | None:
    """Return True while a process holds that owner's lock.

    None if the owner was never seen here: it may live on another machine.
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
