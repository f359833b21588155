"""What a job achieved, read from the table's own metadata, claiming only what is ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class RowProof(StrEnum):
    """How far it is shown that the rows are the same before and after."""

    EQUAL = "equal"  # total-records of each of our snapshots equal its parent's
    COUNTED = "counted"  # deletes were applied: live rows counted at both snapshots, equal
    BOUNDED = "bounded"  # deletes were applied: the difference is within the deletes there were
    NOT_NEEDED = "not_needed"  # the action writes no snapshot, or wrote none
    DIFFERENT = "different"  # rows are missing or too many: the job has failed
    UNKNOWN = "unknown"  # a snapshot or its summary is gone


class ContentProof(StrEnum):
    """What the checksums of the rows before and after say."""

    NOT_TAKEN = "not_taken"
    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = (
        "unknown"  # they were asked for, and could not be taken or not be set against each other
    )


@dataclass(frozen=True, slots=True)
class Measurement:
    """The few figures of a table that an effect compares."""

    snapshot_id: int | None
    measured_at: datetime
    data_files: int | None
    data_bytes: int | None
    average_file_size_bytes: float | None
    delete_files: int | None
    records: int | None
    manifests: int | None
    manifest_bytes: int | None
    snapshots: int


@dataclass(frozen=True, slots=True)
class Effect:
    """Before and after; the changes are those of our own commits, others' commits in between are
    counted apart.
    """

    before: Measurement
    after: Measurement
    own_commits: int
    other_commits: int
    files_removed: int  # net data files removed by our commits
    delete_files_removed: int
    manifests_removed: int
    snapshots_removed: int
    bytes_rewritten: int  # of the data and delete files that our commits replaced
    duration_seconds: float | None
    rows: RowProof
    rows_before: int | None = None
    rows_after: int | None = None
    sentence: str = ""
    statistics_written: int = (
        0  # files of statistics that are there since, of the snapshot that the job was for
    )

    own_snapshot_ids: tuple[int, ...] = ()  # of our commits, oldest first

    orphans_listed: int = 0
    orphans_removed: int = 0  # files of an approved list that are not there any more
    orphan_bytes_removed: int = 0
    orphans_restored: int = 0  # brought back from quarantine

    # that the action took and left as they were, because commits of a part of it met a writer's
    files_lost: int = 0

    contents: ContentProof = ContentProof.NOT_TAKEN

    canary_files: int | None = (
        None  # of what our commits added, read again; None: not tried, or it could not be
    )

    failed_proofs: tuple[
        str, ...
    ] = ()  # why what we wrote is not what it should be, each a sentence

    difference: str = ""  # from what was predicted, and why; empty: none worth a word

    files_left: int = 0  # that a job which commits in parts had not come to when Spark was lost

    @property
    def is_idle(self) -> bool:
        """True when our commits changed nothing that the action is for."""
        is_net = self.files_removed or self.manifests_removed or self.snapshots_removed
        return not (
            self.own_commits
            or is_net
            or self.statistics_written
            or self.orphans_listed
            or self.orphans_removed
            or self.orphans_restored
        )
