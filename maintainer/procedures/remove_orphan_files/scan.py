"""Orphan scans: where they must not run, and which of the found files must be kept.

This is the most dangerous of all rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from re import compile as compile_regex

from maintainer.domain.health import TableHealth
from maintainer.domain.location import TableLocation, normalise_path, overlap
from maintainer.domain.orphan import FoundFile, OrphanListState, Surroundings
from maintainer.domain.plan import SkipCode
from maintainer.domain.rules import MIN_ORPHAN_AGE, RemoveOrphanFilesRule
from maintainer.domain.units import format_count, format_duration, format_instant, format_size
from maintainer.estimate.floors import Refusal, is_gc_disabled

MIN_TABLE_AGE = timedelta(hours=72)
FOREIGN_TRUST = timedelta(
    days=7
    # The location of a table of another format is valid for this time, and then checked
    # again.
)
MIN_DEPTH = 2  # directories; a table in the root of a bucket or file system is not scanned
MAX_FILES = 1_000_000
MAX_FILE_SHARE = 0.30
MAX_BYTE_SHARE = 0.10
WARN_BYTE_SHARE = 0.05

# Table properties that Spark's procedures snapshot, migrate and add_files set. Such a table may use
# another table's files.
_BORROWED = {"snapshot": "true", "migrated": "true"}
_PROTECTED_NAME = compile_regex(
    r".*\.metadata\.json(\.gz)?|version-hint\.text|flink\.job-id\..*|.*\.stats"
    r"|partition-stats-.*|[._].*"
)
_STAGING = frozenset(
    {"_temporary", ".spark-staging", "staging", ".staging", "_staging", ".hive-staging"}
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The assessment of a list of found files."""

    orphans: tuple[FoundFile, ...]
    kept: tuple[tuple[str, str], ...]  # (path, why the file must be kept)
    refusal: str | None  # why nothing may be removed
    warning: str | None = None


def refuse_orphans(
    rule: RemoveOrphanFilesRule,
    health: TableHealth,
    surroundings: Surroundings | None,
    now: datetime,
) -> Refusal | None:
    """The first reason against an orphan scan of this table; None when there is none."""
    if is_gc_disabled(health):
        return Refusal(
            SkipCode.GC_DISABLED,
            "the table has gc.enabled=false: its files may belong to another table, so none of "
            "its files is deleted",
        )
    if rule.older_than < MIN_ORPHAN_AGE:
        floor = format_duration(MIN_ORPHAN_AGE)
        return Refusal(
            SkipCode.RETENTION_FLOOR,
            f"older_than {format_duration(rule.older_than)} is under the {floor} floor of "
            f"remove_orphan_files",
        )
    reason = (
        _find_borrowed(health)
        or _find_unknown(surroundings)
        or _find_overlap(health, surroundings, now)
        or _find_youth(health, surroundings, now)
    )
    return Refusal(SkipCode.UNSAFE, reason) if reason is not None else None


def wants_restore(surroundings: Surroundings | None) -> bool:
    """True when somebody asked for a restore.

    A restore removes nothing, so it is safe in any location.
    """
    return surroundings is not None and any(
        orphans.state is OrphanListState.RESTORING for orphans in surroundings.lists
    )


def _find_borrowed(health: TableHealth) -> str | None:
    name = next(
        (
            name
            for name, value in _BORROWED.items()
            if health.properties.get(name, "").strip().lower() == value
        ),
        None,
    )
    if name is not None:
        return (
            f"the table has the property {name}=true: it was made from another table, whose "
            f"files may be in its location"
        )
    if len([part for part in normalise_path(health.location).split("/") if part]) < MIN_DEPTH:
        return f"the table's location {health.location} is the root of a storage"
    return None


def _find_unknown(surroundings: Surroundings | None) -> str | None:
    if surroundings is None or not surroundings.is_complete:
        return (
            "not every table of every catalog has been measured, so the other files in the "
            "location are unknown"
        )
    return None


def _find_youth(
    health: TableHealth, surroundings: Surroundings | None, now: datetime
) -> str | None:
    seen = [
        moment
        for moment in (
            health.oldest_snapshot_at,
            surroundings.first_seen_at if surroundings is not None else None,
        )
        if moment is not None
    ]
    # A table is at least as old as its oldest snapshot, and at least known for so long.
    if not seen or now - min(seen) < MIN_TABLE_AGE:
        return f"the table is not known to be older than {format_duration(MIN_TABLE_AGE)}"
    return None


def _find_overlap(
    health: TableHealth, surroundings: Surroundings | None, now: datetime
) -> str | None:
    own = health.own_paths()
    for location in surroundings.neighbours if surroundings is not None else ():
        if (
            location.table_uuid == health.table_uuid
            and location.table != str(health.table)
            and not location.is_gone
        ):
            return (
                f"the table is registered as {location.table} too, whose state may need other files"
            )
        shared = next((path for path in own if overlap(path, location.path)), None)
        if location.seen_at is not None and now - location.seen_at >= FOREIGN_TRUST:
            continue
        if location.table_uuid != health.table_uuid and shared is not None:
            state = _describe_state(location)
            return (
                f"its directory {shared} overlaps with {location.path} of table "
                f"{location.table}{state}"
            )
    return None


def _describe_state(location: TableLocation) -> str:
    if location.seen_at is not None:
        return f", which is not an Iceberg table, seen at {format_instant(location.seen_at)}"
    return ", which was dropped and may have left its files," if location.is_gone else ""


def judge_orphans(
    health: TableHealth,
    found: Iterable[FoundFile],
    foreign_files: int | None,
    counted: int | None = None,
    older_than: datetime | None = None,
) -> Assessment:
    """Check a list of found files against the guards and the caps.

    foreign_files: the table's files outside its location, None if unknown. counted: the total
    number of found files. older_than: newer files are kept, if the storage gives their time.
    """
    every = tuple(found)
    own = normalise_path(health.location)
    orphans, kept = [], []
    for file in every:
        reason = _why_kept(file, own, health, older_than)
        if reason is None:
            orphans.append(file)
        else:
            kept.append((file.path, reason))
    refusal = _refuse_list(
        tuple(orphans), len(every) if counted is None else counted, len(every), foreign_files
    ) or _exceed(health, tuple(orphans))
    warning = None if refusal else _warn(health, tuple(orphans))
    return Assessment(tuple(orphans), tuple(kept), refusal, warning)


def _why_kept(
    file: FoundFile, own: str, health: TableHealth, older_than: datetime | None
) -> str | None:
    path = normalise_path(file.path).removesuffix("/")
    if not path.startswith(own):
        return "it is outside the table's location"
    directories = path.removeprefix(own).split("/")
    if (
        normalise_path(health.metadata_location).removesuffix("/") == path
        or _PROTECTED_NAME.fullmatch(directories[-1]) is not None
    ):
        return "its name is one that is never deleted"
    if any(
        directory in _STAGING or directory.startswith((".", "_")) for directory in directories[:-1]
    ):
        return "it is in a staging or hidden directory"
    if file.size_bytes == 0:
        return "it is empty, like the marker of a directory"
    if older_than is not None and file.modified_at is not None and file.modified_at >= older_than:
        return f"it was written at {format_instant(file.modified_at)}, which is too recent"
    return None


def _refuse_list(
    orphans: tuple[FoundFile, ...], counted: int, listed: int, foreign_files: int | None
) -> str | None:
    if foreign_files is None:
        return "it is not known whether files of the table are outside its location"
    if foreign_files:
        return (
            f"{foreign_files:,} files of the table are outside its location: it may have been "
            f"made by add_files, and its directory may be another table's"
        )
    if counted > MAX_FILES:
        return f"{counted:,} files were found, more than the limit of {MAX_FILES:,}"
    if counted != listed:
        return f"{counted:,} files were found and {listed:,} listed: the list is incomplete"
    unknown = sum(file.size_bytes is None for file in orphans)
    return f"the sizes of {unknown:,} of {len(orphans):,} files are unknown" if unknown else None


def _exceed(health: TableHealth, orphans: tuple[FoundFile, ...]) -> str | None:
    files, size = len(orphans), _sum_bytes(orphans)
    if not orphans:
        return None
    if health.storage_files is None or health.data_bytes is None:
        return "the number of the table's own files is unknown"
    # The table's number of files is a lower bound, so the shares are upper bounds.
    if files > MAX_FILE_SHARE * (health.storage_files + files):
        return (
            f"{files:,} files are more than {MAX_FILE_SHARE:.0%} of the "
            f"{health.storage_files + files:,} in its location"
        )
    if size > MAX_BYTE_SHARE * (_known_bytes(health) + size):
        return (
            f"{format_size(size)} are more than {MAX_BYTE_SHARE:.0%} of the "
            f"{format_size(_known_bytes(health) + size)} in its location"
        )
    return None


def _warn(health: TableHealth, orphans: tuple[FoundFile, ...]) -> str | None:
    size = _sum_bytes(orphans)
    if size > WARN_BYTE_SHARE * (_known_bytes(health) + size):
        return (
            f"{format_size(size)} are more than {WARN_BYTE_SHARE:.0%} of the "
            f"{format_size(_known_bytes(health) + size)} in its location"
        )
    return None


def _known_bytes(health: TableHealth) -> int:
    return (health.data_bytes or 0) + (health.delete_bytes or 0)


def _sum_bytes(orphans: tuple[FoundFile, ...]) -> int:
    return sum(file.size_bytes or 0 for file in orphans)


def describe_judgement(assessment: Assessment) -> str:
    """The assessment as one or two sentences."""
    files, size = len(assessment.orphans), format_size(_sum_bytes(assessment.orphans))
    text = (
        f"{format_count(files, 'orphan file')} of {size} listed."
        if files
        else "No orphan file was found."
    )
    if assessment.kept:
        text += (
            f" {len(assessment.kept):,} more files are kept, the first: {assessment.kept[0][0]} "
            f"({assessment.kept[0][1]})."
        )
    if assessment.refusal is not None:
        text += f" None of them may be deleted: {assessment.refusal}."
    elif assessment.warning is not None:
        text += f" Check the list: {assessment.warning}."
    return text
