"""The effect of a job, from the table's metadata; only the job's own commits count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Quantity(StrEnum):
    """A quantity that is estimated before a job and known after it."""

    FILES_REMOVED = "files_removed"
    DELETE_FILES_REMOVED = "delete_files_removed"
    MANIFESTS_REMOVED = "manifests_removed"
    SNAPSHOTS_REMOVED = "snapshots_removed"
    BYTES_REWRITTEN = "bytes_rewritten"
    GB_HOURS = "gb_hours"
    DURATION_SECONDS = "duration_seconds"


class RowProof(StrEnum):
    """The proof that the rows are the same before and after."""

    EQUAL = "equal"  # total-records of each of the job's snapshots equal those of its parent
    COUNTED = "counted"  # deletes were applied; the counted live rows of both snapshots are equal
    BOUNDED = "bounded"  # deletes were applied; the difference is at most the number of deletes
    NOT_NEEDED = "not_needed"  # the action writes no snapshot, or wrote none
    DIFFERENT = "different"  # rows are missing or added: the job failed
    UNKNOWN = "unknown"  # a snapshot or its summary is gone


class ContentProof(StrEnum):
    """The result of comparing row checksums from before and after."""

    NOT_TAKEN = "not_taken"
    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"  # checksums were requested, but could not be computed or compared


@dataclass(frozen=True, slots=True)
class Measurement:
    """The few health figures that an effect compares."""

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
    histogram: tuple[int, ...] = ()  # as TableHealth.histogram; empty: unknown
    histogram_bytes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """The table before and after a job.

    The changes are those of our own commits. Other writers' commits in between are counted
    separately.
    """

    before: Measurement
    after: Measurement
    own_commits: int
    other_commits: int
    files_removed: int  # net data files removed by the job's commits
    delete_files_removed: int
    manifests_removed: int
    snapshots_removed: int
    bytes_rewritten: int  # of the data and delete files that the job's commits replaced
    duration_seconds: float | None
    rows: RowProof
    rows_before: int | None = None
    rows_after: int | None = None
    sentence: str = ""
    statistics_written: int = 0  # new statistics files for the job's snapshot

    own_snapshot_ids: tuple[int, ...] = ()  # the job's commits, oldest first

    orphans_listed: int = 0
    orphans_removed: int = 0  # files of the approved list that were removed
    orphan_bytes_removed: int = 0
    orphans_restored: int = 0  # files restored from quarantine

    # planned files that were not rewritten, because commits of parts of the job conflicted with a
    # writer's
    files_lost: int = 0

    contents: ContentProof = ContentProof.NOT_TAKEN

    # files of the job's commits that were read again; None: not tried, or not possible
    canary_files: int | None = None

    failed_proofs: tuple[str, ...] = ()  # sentences that say why the job's result is wrong

    difference: str = ""  # from the estimate, and why; empty: too small to mention

    # files that a job with partial commits had not rewritten when Spark was lost
    files_left: int = 0

    @property
    def requests_saved(self) -> int:
        """The number of requests by which one scan of the whole table has become shorter."""
        return self.files_removed + self.delete_files_removed + self.manifests_removed

    @property
    def is_idle(self) -> bool:
        """True if the job's commits changed nothing that the action is meant to change."""
        is_net = self.files_removed or self.manifests_removed or self.snapshots_removed
        return not (
            self.own_commits
            or is_net
            or self.statistics_written
            or self.orphans_listed
            or self.orphans_removed
            or self.orphans_restored
        )


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """The result of reading a limited number of the new files of some snapshots."""

    files_read: int
    problems: tuple[str, ...] = ()  # each names a file that differs from its manifest entry
    unread: tuple[
        str, ...
    ] = ()  # files that could not be read, with the reason; they prove nothing
    # files that a failed check names and that other snapshots added
    older: tuple[str, ...] = ()
