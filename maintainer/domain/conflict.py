"""The ways in which another writer's commit makes a job's commit fail."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class ConflictKind(StrEnum):
    """What the other writer did before the job's commit: a closed set."""

    NEW_DELETES = "new_deletes"
    NEW_FILES = "new_files"
    FILES_GONE = "files_gone"
    MANIFESTS_GONE = "manifests_gone"
    HISTORY_GONE = "history_gone"
    REQUIREMENT_FAILED = "requirement_failed"
    COMMITS_LOST = "commits_lost"
    TAKEN_BACK = "taken_back"
    SNAPSHOT_CHANGED = "snapshot_changed"


CONFLICT_WORDS: Mapping[ConflictKind, str] = {
    ConflictKind.NEW_DELETES: "rows of files that were being rewritten were deleted meanwhile",
    ConflictKind.NEW_FILES: (
        "files were added meanwhile where the commit relied on there being none"
    ),
    ConflictKind.FILES_GONE: "files that were being rewritten were removed meanwhile",
    ConflictKind.MANIFESTS_GONE: "manifests that were being rewritten were replaced meanwhile",
    ConflictKind.HISTORY_GONE: "the snapshot that the work began at was expired meanwhile",
    ConflictKind.REQUIREMENT_FAILED: (
        "the table was changed in the moment of each attempt to commit"
    ),
    ConflictKind.COMMITS_LOST: "too many of the commits in parts were refused",
    ConflictKind.TAKEN_BACK: (
        "the table no longer has a snapshot of ours, as if its catalog had undone our commit in "
        "favour of another writer"
    ),
    ConflictKind.SNAPSHOT_CHANGED: (
        "the table was changed before the dangling delete files could be removed; they stay"
    ),
}
