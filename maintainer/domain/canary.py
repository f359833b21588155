"""Reading again some of what a job wrote."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CanaryReading:
    """What a bounded look at the files of some snapshots found."""

    files_read: int
    problems: tuple[str, ...] = ()  # each names a file that is not what its manifest says
    unread: tuple[
        str, ...
    ] = ()  # files that could not be looked at now, with the reason: this proves nothing
