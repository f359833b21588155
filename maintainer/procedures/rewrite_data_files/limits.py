"""The bounds of one rewrite: its options, the memory, hot partitions, and limits on its bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from maintainer.domain.cost import Calibration
from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import Charge, RuleName
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import GIB, format_count, format_duration, format_size
from maintainer.estimate.cost import (
    FIRST_BYTES_PER_SECOND,
    Pace,
    find_byte_share,
    find_pace,
    most_work,
)

GROUPS_AT_ONCE = "max-concurrent-file-group-rewrites"
# An upper bound from measurements with Iceberg 1.12, of the heap for 400,000 deletes. One long took
# 108 bytes per row (4.7 bytes in the file), a string of 26 characters 157 (5.2), both 173 (9.9).
# Files are encoded and compressed; the sets in memory consist of objects.
BYTES_PER_ROW = 120
BYTES_PER_FILE_BYTE = 15
# The share of a job's heap for deletes; the rest is for data that it reads and writes. Spark
# leaves 40 % of the heap to objects that it does not manage.
USABLE_SHARE = 0.4
GROUP_SIZE = "max-file-group-size-bytes"
MOST_FILES = "max-files-to-rewrite"
PARTIAL_PROGRESS = "partial-progress.enabled"
LEAST_TARGETS_PER_GROUP = 4  # a smaller group could fill only very few files of the target size
LEAST_WORK_PER_START_UP = 0.5  # in a shorter job, most of the time would be its start-up
FIRST_PACE = Pace(8.0, 1 / FIRST_BYTES_PER_SECOND)  # 400 files of 2 KB took 5.6 s on a local disk
_SECONDS_PER_HOUR = 3600


def weigh_deletes(health: TableHealth) -> dict[PartitionKey, int]:
    """Bytes of memory that one copy of each partition's equality deletes takes."""
    unpartitioned = {
        spec.spec_id
        for spec in health.specs
        if not any(field.transform != "void" for field in spec.fields)
    }
    weights = {
        (p.spec_id, p.partition): _weigh(p.equality_delete_records, p.equality_delete_bytes)
        for p in health.partitions
    }
    everywhere = sum(weight for (spec_id, _), weight in weights.items() if spec_id in unpartitioned)
    return {
        key: weight + (0 if key[0] in unpartitioned else everywhere)
        for key, weight in weights.items()
    }


def _weigh(records: int, size: int) -> int:
    return records * BYTES_PER_ROW + size * BYTES_PER_FILE_BYTE


def fit_deletes(
    options: Mapping[str, str], health: TableHealth, memory_gb: float, tasks_at_once: int
) -> Fit:
    """The options of the rewrite, changed so that its deletes fit.

    The options are kept, or the job runs one task at a time, or leaves out partitions with too many
    deletes.
    """
    if not health.equality_delete_files:
        return Fit(options)
    room = memory_gb * GIB * USABLE_SHARE
    weights = {(p.spec_id, p.partition): 0 for p in health.partitions if p.data_files}
    weights = {key: weight for key, weight in weigh_deletes(health).items() if key in weights}
    too_heavy = frozenset(key for key, weight in weights.items() if weight > room)
    refusal = _refuse(weights, too_heavy, room, memory_gb)
    heaviest = max((weight for key, weight in weights.items() if key not in too_heavy), default=0)
    if heaviest * tasks_at_once <= room:
        return Fit(options, too_heavy, refusal=refusal)
    target = int(options.get("target-file-size-bytes", health.target_file_size_bytes))
    group = min(target, int(options.get(GROUP_SIZE, target)))
    narrowed = dict(options) | {GROUPS_AT_ONCE: "1", GROUP_SIZE: str(group)}
    sentence = (
        f"in groups of {format_size(group)}, one at a time, because the equality deletes of one "
        f"take about {format_size(heaviest)} "
        f"of the {format_size(room)} of memory that a job has for them"
    )
    return Fit(narrowed, too_heavy, sentence, refusal)


def _refuse(
    weights: Mapping[PartitionKey, int],
    too_heavy: frozenset[PartitionKey],
    room: float,
    memory_gb: float,
) -> str:
    if not too_heavy:
        return ""
    number, heaviest = len(too_heavy), max(weights[key] for key in too_heavy)
    return (
        f"the equality deletes of {format_count(number, 'partition')} take up to "
        f"about {format_size(heaviest)} of memory in each task, "
        f"more than the {format_size(room)} that a job of {format_size(memory_gb * GIB)} has for "
        f"them (spark.driver_memory, spark.max_jobs)"
    )


@dataclass(frozen=True, slots=True)
class Limit:
    """The most bytes that one job may rewrite."""

    bytes: int
    is_of_groups: bool  # True: limits whole file groups; False: limits the files taken from them
    reason: Callable[[int, int], str]  # from the bytes of the part and of the whole table


@dataclass(frozen=True, slots=True)
class Fit:
    """The options that fit in memory, the partitions that do not, and the changes as a sentence."""

    options: Mapping[str, str]
    too_heavy: frozenset[PartitionKey] = frozenset()
    sentence: str = ""
    refusal: str = ""  # the sentence for partitions with too many deletes


@dataclass(frozen=True, slots=True)
class JobBounds:
    """The bounds of one rewrite: its options, the memory, the age of hot partitions, the limits."""

    fit: Fit
    hot_age: timedelta
    limits: tuple[Limit, ...] = ()  # in addition to the policy's limits
    # partitions that wait until they have gathered more files, what waits there, and until when
    gathering: frozenset[PartitionKey] = frozenset()
    gathering_sentence: str = ""
    gathered_at: datetime | None = None

    @classmethod
    def of_policy(cls, rule: RewriteDataFilesRule) -> JobBounds:
        """Only the bounds that the rule itself sets."""
        return cls(Fit(dict(rule.options)), rule.hot_partition_age)


def shrink_groups(
    rule: RewriteDataFilesRule, health: TableHealth, history: RuleHistory
) -> Mapping[str, str]:
    """The rule's options, with smaller file groups that are committed one by one.

    Each recent conflict, timeout or lack of memory halves the group size. The policy's values are
    kept.
    """
    own = dict(rule.options)
    if not (history.recent_conflicts or history.recent_overloads):
        return own
    smallest = LEAST_TARGETS_PER_GROUP * health.target_file_size_bytes
    group = max(smallest, int((health.data_bytes or 0) * history.scope_factor))
    return {GROUP_SIZE: str(group), PARTIAL_PROGRESS: "true"} | own


def limit_between_commits(
    health: TableHealth, history: RuleHistory, calibration: Calibration
) -> Limit | None:
    """The limit after conflicts: the job must fit between two commits of the other writers.

    It is a limit on the whole job. Iceberg checks for conflicts since the job began: smaller file
    groups do not help against a writer that commits more often than a job takes. A filter for
    fewer partitions meets fewer writers, so it bounds whole groups.
    """
    conflicts = history.recent_conflicts
    if not conflicts:
        return None
    pace, gap = find_pace(RuleName.REWRITE_DATA_FILES, FIRST_PACE, calibration), find_gap(health)

    def explain(part: int, _whole: int) -> str:
        work = format_duration(timedelta(seconds=pace.seconds(part / find_byte_share(health))))
        lost = f"{conflicts:,} recent rewrite{'' if conflicts == 1 else 's'}"
        often = (
            "" if gap is None else f" that leave about {format_duration(gap)} between two commits"
        )
        return f"about {work} of work, because {lost} lost to writers{often}"

    return Limit(find_most_bytes(health, history, pace), is_of_groups=True, reason=explain)


def find_most_bytes(health: TableHealth, history: RuleHistory, pace: Pace) -> int:
    """Bytes that a job can rewrite in a share of the time between two commits.

    The time includes the start-up. The share is a half after one conflict, a quarter after two. The
    result is at most that share of the table, and large enough that the job is not mostly start-up.
    """
    share = find_byte_share(health)
    bounds = [history.scope_factor * (health.data_bytes or 0) / share * pace.seconds_per_unit]
    gap = find_gap(health)
    if gap is not None:
        bounds.append(history.scope_factor * gap.total_seconds() - pace.start_seconds)
    return round(
        max(LEAST_WORK_PER_START_UP * pace.start_seconds, min(bounds))
        / pace.seconds_per_unit
        * share
    )


def find_gap(health: TableHealth) -> timedelta | None:
    """The time between two commits: the mean, or the time since rows last changed if longer.

    Appends do not conflict, but a writer does not announce changes of rows: all commits count.
    None: unknown, or no commits.
    """
    if not health.commits_per_hour:
        return None
    gap = timedelta(seconds=_SECONDS_PER_HOUR / health.commits_per_hour)
    changed = health.last_change_at
    return gap if changed is None else max(gap, health.measured_at - changed)


def limit_to_a_day(
    health: TableHealth, most: Charge, calibration: Calibration, memory_gb: float
) -> Limit | None:
    """The limit from the most of the daily budgets that one job may take.

    So a large job leaves room for other jobs. None without budgets, and if not even the start-up
    fits.
    """
    pace = find_pace(RuleName.REWRITE_DATA_FILES, FIRST_PACE, calibration)
    work = most_work(pace, most.gb_hours, memory_gb)
    bound = min(most.bytes, work * find_byte_share(health))

    def explain(_part: int, whole: int) -> str:
        size = format_size(whole)
        return f"because all of {size} is more than a quarter of the budgets of a day"

    return Limit(int(bound), is_of_groups=False, reason=explain) if 1 <= bound < inf else None
