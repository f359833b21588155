"""Reading some of a job's new files again, as part of the proof."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """The result of reading a limited number of the new files of some snapshots."""

    files_read: int
    problems: tuple[str, ...] = ()  # each names a file that differs from its manifest entry
    unread: tuple[
        str, ...
    ] = ()  # files that could not be read, with the reason; this proves nothing
