"""How often this process looks for garbage."""

from __future__ import annotations

import gc
from typing import Final

# Objects between two looks, instead of Python's 700. Imported modules stay for ever, and a digest
# is freed with its last reference. To look again and again took a sixth of a short command's time,
# and a quarter of the time in which a table with deletes is read and measured.
GARBAGE_THRESHOLD: Final = 50_000


def collect_rarely() -> None:
    """Set the threshold for this process."""
    gc.set_threshold(GARBAGE_THRESHOLD)
