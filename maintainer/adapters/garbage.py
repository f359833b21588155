"""The interval of Python's garbage collection in this process."""

from __future__ import annotations

import gc
from typing import Final

# Objects between two collections, instead of Python's 700. Imported modules are never garbage, and
# a digest is freed with its last reference. Frequent collections took a sixth of the time of a
# short command, and a quarter of the time of reading and measuring a table with deletes.
GARBAGE_THRESHOLD: Final = 50_000


def collect_rarely() -> None:
    """Set the threshold for this process."""
    gc.set_threshold(GARBAGE_THRESHOLD)
