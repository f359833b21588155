"""Running processes with the same run directory, and the drivers that ended processes have left."""

from __future__ import annotations

import contextlib
import fcntl
import os
from datetime import datetime, timedelta
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


KEPT_FOR = timedelta(days=7)


def prune_leftovers(run_dir: Path, now: datetime) -> int:
    """Remove files of long-ended processes without a running Spark; return their number."""
    oldest = (now - KEPT_FOR).timestamp()
    owners = [lock.stem for lock in run_dir.glob("*.lock") if _is_older(lock, oldest)]
    return sum(
        _remove(run_dir, owner, oldest) for owner in owners if owner_lives(run_dir, owner) is False
    )


def _remove(run_dir: Path, owner: str, oldest: float) -> bool:
    files = [
        path
        for path in run_dir.iterdir()
        if path.name.startswith((f"{owner}.spark", f"{owner}.processes."))
        or path.name == f"{owner}.lock"
    ]
    if any(path.is_dir() for path in files) or not all(_is_older(path, oldest) for path in files):
        # its Spark may be running for another process, or its log has just been written to
        return False
    # the lock last, so that the other files are found again until then
    for path in sorted(files, key=lambda path: path.suffix == ".lock"):
        path.unlink(missing_ok=True)
    return True


def _is_older(path: Path, oldest: float) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mtime < oldest
    return False
