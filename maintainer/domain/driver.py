"""What a Spark driver reports: its versions and catalogs, who it is, its log and its progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from re import compile as compile_regex

from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.units import format_size

Version = tuple[int, ...]

_NUMBERS = compile_regex(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class JobLog:
    """A piece of the share; positions are characters since its start.

    Only the end of a long log is kept: then `start` is greater than the position asked for.
    """

    text: str  # whole lines
    start: int
    is_complete: bool = False  # True: this is the end of the log
    source: int = 0  # the position after this part in the driver's log, as the launcher counts

    @property
    def next(self) -> int:
        """The position after the text."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class JobDriver:
    """What a driver reported about itself. An empty text and None are unknown."""

    name: str
    application_id: str = ""  # Spark's id of the application
    host: str = ""  # for a pod, its name
    pod: str = ""  # empty if the driver is not a pod
    process: int | None = None  # the process number on the host
    spark: str = ""
    scala: str = ""
    java: str = ""
    iceberg: str = ""

    @property
    def ui_values(self) -> Mapping[str, str]:
        """What a template of an address of Spark's page may contain, by placeholder."""
        return {
            "application_id": self.application_id,
            "driver": self.name,
            "host": self.host,
            "pod": self.pod,
        }


UI_PLACEHOLDERS = tuple(JobDriver("").ui_values)


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """What one driver reported after its start. An empty version is unknown."""

    at: datetime
    settings: str  # a hash of the runner's settings; under other settings the facts are not valid
    spark: str = ""
    scala: str = ""
    java: str = ""
    iceberg: str = ""
    # why Spark could not load each catalog, in one line; empty: Spark has loaded it
    catalogs: Mapping[str, str] = field(default_factory=dict)
    pool: str = DEFAULT_POOL


def read_version(text: str) -> Version | None:
    """The first three numbers of a version, missing ones as 0; None when it has none."""
    found = _NUMBERS.match(text)
    return None if found is None else tuple(int(number or 0) for number in found.groups())


def write_version(version: Version) -> str:
    return ".".join(map(str, version[:2] if not any(version[2:]) else version))


class Stage(StrEnum):
    """The stages of a job, in order. A job may skip a stage; it never falls."""

    WAITING = "waiting"  # for its turn or for memory
    STARTING = "starting"  # Spark starts
    PREPARING = "preparing"  # statements before the procedure: the tag, checksums
    WORKING = "working"  # the procedure
    CHECKING = "checking"  # statements after the procedure
    PROVING = "proving"  # Spark has finished; the proof reads the table's metadata


_ORDER = tuple(Stage)
# The share of the whole job at which each stage begins. Only the file groups, in WORKING, have a
# total that is known from the start.
_BEGINS = {
    Stage.WAITING: 0.0,
    Stage.STARTING: 0.02,
    Stage.PREPARING: 0.05,
    Stage.WORKING: 0.1,
    Stage.CHECKING: 0.9,
    Stage.PROVING: 0.95,
}
_WORK_SHARE = _BEGINS[Stage.CHECKING] - _BEGINS[Stage.WORKING]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of Spark's work. None: Spark did not say."""

    tasks_done: int | None = None
    tasks_total: int | None = None  # of the Spark jobs so far; grows with each new Spark job
    phase: str = ""  # in words: "starting Spark", "running on Spark", "proving"
    file_groups_done: int | None = None  # of a rewrite
    file_groups_total: int | None = None
    bytes_read: int | None = None  # by Spark, if the storage client counts them
    bytes_written: int | None = None
    ends_at: datetime | None = None  # the estimated end, if the speed does not change
    stage: Stage = Stage.WAITING

    @property
    def share(self) -> float:
        """The completed share of the whole job: 0 while it waits, below 1 until it is over."""
        done = _BEGINS[self.stage]
        return done + _WORK_SHARE * self.group_share if self.stage is Stage.WORKING else done

    @property
    def is_counted(self) -> bool:
        """True when the share grows within the stage, False when only the next stage adds to it."""
        return self.stage is Stage.WORKING and bool(self.file_groups_total)

    @property
    def group_share(self) -> float:
        """The completed share of the file groups; 0 when unknown."""
        return (
            min(1.0, (self.file_groups_done or 0) / self.file_groups_total)
            if self.file_groups_total
            else 0.0
        )

    def after(self, earlier: Progress) -> Progress:
        """Merge with an earlier report of the same job: stage and counts never go back."""
        stage = max(self.stage, earlier.stage, key=_ORDER.index)
        later = replace(
            self,
            stage=stage,
            tasks_done=_most(self.tasks_done, earlier.tasks_done),
            tasks_total=_most(self.tasks_total, earlier.tasks_total),
        )
        if later.group_share >= earlier.group_share:
            return later
        return replace(
            later,
            file_groups_done=earlier.file_groups_done,
            file_groups_total=earlier.file_groups_total,
        )

    @property
    def sentence(self) -> str:
        """The known figures as a sentence."""
        words = []
        if self.file_groups_total:
            words.append(
                f"{self.file_groups_done or 0:,} of {self.file_groups_total:,} file groups"
            )
        elif self.tasks_done:
            words.append(f"{self.tasks_done:,} {'task' if self.tasks_done == 1 else 'tasks'} done")
        if self.bytes_read:
            words.append(f"{format_size(self.bytes_read)} read")
        if self.bytes_written:
            words.append(f"{format_size(self.bytes_written)} written")
        if self.ends_at is not None:
            words.append(f"done at about {self.ends_at:%H:%M:%S} UTC")
        return ", ".join(words)


def _most(now: int | None, before: int | None) -> int | None:
    known = [count for count in (now, before) if count is not None]
    return max(known) if known else None
