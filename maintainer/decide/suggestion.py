"""A policy for one table, suggested by its own history: each value with the figure behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from re import sub
from textwrap import wrap
from typing import Final

from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.job import Job
from maintainer.domain.metric import Metric
from maintainer.domain.policy import Mode
from maintainer.domain.redaction import make_visible
from maintainer.domain.rules import (
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.domain.units import (
    KIB,
    format_count,
    format_duration,
    format_size,
    write_duration,
    write_size,
)
from maintainer.measure.history import Samples, drop_unknown, mean_over_time, sum_rises

LOOKS_BACK: Final = timedelta(days=30)
METRICS: Final = ("commits_per_hour", "data_files", "data_bytes")  # samples that are read

_SHORTEST_SPAN = timedelta(hours=6)  # of samples, so that the growth of files is known
_COOLDOWNS = tuple(timedelta(hours=hours) for hours in (1, 3, 6, 12, 24, 7 * 24))
_ENOUGH_FILES = 100  # so many new files are worth a Spark job
_SHARE_OF_TARGET = 4  # a file below this fraction of the target is far too small
_LARGE_SHARE = 0.75  # Iceberg's planner takes no larger file because of its size
_ENOUGH_SNAPSHOTS = 1000  # with more, reading and writing the metadata file is slow
_EXPIRY_AGES = tuple(timedelta(days=days) for days in (5, 3, 2, 1))
_ENOUGH_COMMITS = 24  # with fewer, nothing is known about hours without a commit
_QUIET_DAYS = timedelta(days=3)
_LEAST_QUIET_HOURS = 3
_HOURS = 24
_COLUMNS = 98
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SuggestedValue:
    """One setting: its path and its value as in a policy file, and why it has this value."""

    path: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class SuggestedPolicy:
    """A complete policy for one table, in observe mode."""

    table: TableIdentifier
    since: datetime  # of the history that was read
    until: datetime
    values: tuple[SuggestedValue, ...]


@dataclass(frozen=True, slots=True)
class _Writes:
    """The writes of others to the table; None: unknown, or the history is too short."""

    commits_per_day: float | None
    files_per_day: float | None
    new_file_bytes: float | None


def suggest_policy(
    health: TableHealth, samples: Mapping[str, Samples], jobs: Sequence[Job], now: datetime
) -> SuggestedPolicy:
    """Suggest thresholds, cooldown, retention and window from the files that arrive in the table.

    `samples` are the METRICS of LOOKS_BACK, `jobs` the table's newest ones.
    """
    writes = _read_writes(health, samples)
    moments = [at for metric in METRICS for at, _ in samples.get(metric, ())]
    moments += [stamp.committed_at for stamp in health.history]
    return SuggestedPolicy(
        health.table,
        min(moments, default=health.measured_at),
        now,
        (
            *_suggest_window(health, jobs),
            *_suggest_rewrite(health, writes),
            *_suggest_delete_rewrite(health),
            *_suggest_manifests(health),
            *_suggest_expiry(writes),
            *_suggest_orphans(),
        ),
    )


def write_suggestion(suggested: SuggestedPolicy, mode: Mode = Mode.OBSERVE) -> str:
    """The text of a policy file, with the reasons as comments."""
    head = (
        f"Suggested for {make_visible(str(suggested.table))} from its history of "
        f"{format_duration(suggested.until - suggested.since)}. It observes: `maintainer plan` "
        f"and the page show what would run. `mode: enforce` carries it out."
    )
    lines = [*_comment(head), f"tables: {_quote_name(suggested.table)}", f"mode: {mode.value}"]
    above: tuple[str, ...] = ()
    for value in suggested.values:
        *parents, key = value.path.split(".")
        for depth, parent in enumerate(parents):
            if above[: depth + 1] != (*parents[: depth + 1],):
                lines.append(f"{'  ' * depth}{parent}:")
        above = tuple(parents)
        lines += _comment(value.reason, "  " * len(parents))
        lines.append(f"{'  ' * len(parents)}{key}: {value.text}")
    return "\n".join([*lines, ""])


def _comment(text: str, indent: str = "") -> list[str]:
    return [f"{indent}# {line}" for line in wrap(text, _COLUMNS - len(indent) - 2)]


def _quote_name(table: TableIdentifier) -> str:
    """The table's name as a quoted pattern; wildcards in the name are escaped.

    A pattern with wildcards must not contain blanks or unprintable characters: `?` replaces them.
    """
    name = str(table)
    if not TablePattern(name).is_exact:
        name = sub(r"([*?\[])", r"[\1]", name)
        name = "".join(
            "?" if letter.isspace() or not letter.isprintable() else letter for letter in name
        )
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{make_visible(quoted)}"'  # YAML has the same escapes


def _read_writes(health: TableHealth, samples: Mapping[str, Samples]) -> _Writes:
    files, size, rates = (
        drop_unknown(samples.get(metric, ()))
        for metric in ("data_files", "data_bytes", "commits_per_hour")
    )
    hourly = mean_over_time(rates) if rates else health.commits_per_hour
    span = files[-1][0] - files[0][0] if files else timedelta(0)
    if span < _SHORTEST_SPAN:
        return _read_snapshots(health)
    added, bytes_added = sum_rises(files), sum_rises(size)
    return _Writes(
        None if hourly is None else hourly * _HOURS,
        added / (span / _DAY),
        bytes_added / added if added else None,
    )


def _read_snapshots(health: TableHealth) -> _Writes:
    """The writes by the kept snapshots, for a table without a long history of samples.

    Nothing is known of a table whose snapshots are of less than _SHORTEST_SPAN: a burst of commits
    says nothing about a day.
    """
    moments = [stamp.committed_at for stamp in health.history]
    span = max(moments) - min(moments) if moments else timedelta(0)
    if span < _SHORTEST_SPAN:
        return _Writes(None, None, None)
    commits = (len(moments) - 1) / (span / _DAY)
    is_whole = any(stamp.parent_id is None for stamp in health.history)
    if not is_whole or health.rewriters or not health.kept_data_files:
        return _Writes(commits, None, None)  # the kept files include older or rewritten files
    return _Writes(commits, health.kept_data_files / (span / _DAY), health.average_file_size_bytes)


def _suggest_rewrite(health: TableHealth, writes: _Writes) -> Iterator[SuggestedValue]:
    rule = RewriteDataFilesRule.name.value
    bound, why = _choose_bound(health)
    yield SuggestedValue(
        f"rules.{rule}.when.{Metric.AVERAGE_FILE_SIZE_BYTES.key}", write_size(bound), why
    )
    if writes.files_per_day is None:
        yield SuggestedValue(
            f"rules.{rule}.cooldown",
            "6h",
            f"The number of arriving files is not known yet: ask again after "
            f"{format_duration(_SHORTEST_SPAN)} of measurements.",
        )
        return
    per_day, each = writes.files_per_day, writes.new_file_bytes
    cooldown = _COOLDOWNS[-1]
    if each is None:
        why = "No new file was seen."
    elif each >= health.target_file_size_bytes * _LARGE_SHARE:
        why = f"New files have {format_size(each)} on average, so they seldom need a rewrite."
    else:
        cooldown = next(
            (step for step in _COOLDOWNS if per_day * (step / _DAY) >= _ENOUGH_FILES),
            _COOLDOWNS[-1],
        )
        expected = round(per_day * (cooldown / _DAY))
        why = (
            f"{_say_files(per_day)} of {format_size(each)} arrive in a day, "
            f"{expected:,} in {format_duration(cooldown)}."
        )
        yield SuggestedValue(
            f"rules.{rule}.when.{Metric.SMALL_FILE_COUNT.key}",
            str(_round(max(10, expected // 2))),
            f"{why} Half of that is worth a Spark job.",
        )
        why = "One job rewrites the files that arrived since the job before."
    yield SuggestedValue(f"rules.{rule}.cooldown", write_duration(cooldown.total_seconds()), why)


def _say_files(per_day: float) -> str:
    return f"About {format_count(round(per_day), 'file')}"


def _choose_bound(health: TableHealth) -> tuple[int, str]:
    """The average file size below which files are too small, and why."""
    target = health.target_file_size_bytes
    bound = target / _SHARE_OF_TARGET
    why = f"A quarter of the target file size of {format_size(target)}."
    files = sum(max(1, ceil(part.data_bytes / target)) for part in health.partitions)
    if not files or sum(part.data_files for part in health.partitions) != health.data_files:
        return _floor_size(bound), why
    possible = sum(part.data_bytes for part in health.partitions) / files
    if possible / 2 < bound:
        bound = possible / 2
        whole = (
            format_count(len(health.partitions), "partition")
            if health.is_partitioned
            else "the table"
        )
        why = (
            f"Half of what {whole} can reach on average: {format_size(possible)}, with a target "
            f"of {format_size(target)}."
        )
    return _floor_size(bound), why


def _floor_size(size: float) -> int:
    """The next smaller power of two, at least 1 KiB: a figure that people recognise."""
    return KIB if size < KIB else int(2 ** (int(size).bit_length() - 1))


def _suggest_delete_rewrite(health: TableHealth) -> Iterator[SuggestedValue]:
    found = health.position_delete_files
    if found:
        yield SuggestedValue(
            f"rules.{RewritePositionDeleteFilesRule.name.value}.when."
            f"{Metric.POSITION_DELETE_FILE_COUNT.key}",
            str(_round(max(10, found // 2))),
            f"Half of the {format_count(found, 'position delete file')} that readers apply now.",
        )


def _suggest_manifests(health: TableHealth) -> Iterator[SuggestedValue]:
    ideal = sum(group.ideal or 1 for group in health.manifest_groups) or 1
    yield SuggestedValue(
        f"rules.{RewriteManifestsRule.name.value}.when.{Metric.MANIFEST_COUNT.key}",
        str(_round(max(100, 2 * ideal))),
        f"{format_count(ideal, 'manifest')} of {format_size(health.target_manifest_size_bytes)} "
        f"would hold the table's entries; a scan reads all of them.",
    )


def _suggest_expiry(writes: _Writes) -> Iterator[SuggestedValue]:
    rule = ExpireSnapshotsRule.name.value
    per_day = writes.commits_per_day or 0.0
    age = next(
        (age for age in _EXPIRY_AGES if per_day * (age / _DAY) <= _ENOUGH_SNAPSHOTS),
        _EXPIRY_AGES[-1],
    )
    kept = ceil(per_day * (age / _DAY))
    days = format_duration(age)
    bound = _round(max(100, ceil(kept * 1.2)))
    if writes.commits_per_day is None:
        why = (
            f"The rate of commits is not known yet: ask again after "
            f"{format_duration(_SHORTEST_SPAN)}."
        )
    elif per_day < 1:
        why = "Writers commit less than once in a day."
    else:
        why = (
            f"{format_count(round(per_day), 'commit')} in a day: {days} keep about "
            f"{format_count(kept, 'snapshot')}, so fewer than {bound:,} are no reason to expire."
        )
    yield SuggestedValue(f"rules.{rule}.when.{Metric.SNAPSHOT_COUNT.key}", str(bound), why)
    yield SuggestedValue(
        f"rules.{rule}.max_age",
        write_duration(age.total_seconds()),
        f"Time travel and rollback reach back {days}."
        if age == _EXPIRY_AGES[0]
        else f"More would keep over {_ENOUGH_SNAPSHOTS:,} snapshots. Time travel and rollback "
        f"reach back {days}.",
    )
    yield SuggestedValue(f"rules.{rule}.keep", "10", "The newest snapshots are kept at any age.")


def _suggest_orphans() -> Iterator[SuggestedValue]:
    rule = RemoveOrphanFilesRule.name.value
    why = "Failed writes leave files behind. They are listed; a person approves their removal."
    yield SuggestedValue(f"rules.{rule}.every", "7d", why)
    yield SuggestedValue(
        f"rules.{rule}.older_than", "7d", "A younger file may belong to a commit in flight."
    )


def _suggest_window(health: TableHealth, jobs: Sequence[Job]) -> Iterator[SuggestedValue]:
    """The hours without a commit, for a table in which a rewrite can conflict with changed rows."""
    conflicts = sum(job.has_met_writers for job in jobs)
    if health.last_change_at is None and not conflicts:
        return
    quiet = _find_quiet_hours([stamp.committed_at for stamp in health.history])
    if quiet is None:
        return
    start, hours = quiet
    why = "Writers change rows, and did not commit in these hours (UTC)."
    if conflicts:
        why += f" {format_count(conflicts, 'job')} lost work to them."
    yield SuggestedValue(
        "window",
        f'{{cron: "0 {start} * * *", duration: {hours}h, timezone: UTC}}',
        why,
    )


def _find_quiet_hours(commits: Iterable[datetime]) -> tuple[int, int] | None:
    """The longest run of hours of the day without a commit, as (first hour, hours)."""
    moments = [at.astimezone(UTC) for at in commits]
    if len(moments) < _ENOUGH_COMMITS or max(moments) - min(moments) < _QUIET_DAYS:
        return None
    busy = {at.hour for at in moments}
    runs = [(_count_quiet(start, busy), start) for start in range(_HOURS)]
    hours, start = max(runs, key=lambda run: (run[0], -run[1]))
    return (start, hours) if _LEAST_QUIET_HOURS <= hours < _HOURS else None


def _count_quiet(start: int, busy: set[int]) -> int:
    return next((hours for hours in range(_HOURS) if (start + hours) % _HOURS in busy), _HOURS)


def _round(number: int) -> int:
    """The number with two significant digits, rounded up."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
