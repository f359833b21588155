"""The file groups of one job: they are planned once, and each stage chooses from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from maintainer.decide.rewrite.limits import JobBounds, Limit
from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_count, format_duration, format_size, is_recent
from maintainer.estimate.filters.filter_writer import MAX_WHERE_CHARACTERS, write_where
from maintainer.estimate.rewrite_data_files import (
    FileGroup,
    PlannerOptions,
    estimate_groups,
    plan_groups,
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Groups that a rewrite would improve, but that must not be rewritten now, as a sentence.

    next_at: when the first of them may be rewritten; None: not by waiting.
    """

    groups: tuple[FileGroup, ...] = ()
    sentence: str = ""
    next_at: datetime | None = None


@dataclass(frozen=True)
class Selection:
    """The file groups of one job, the filter that selects them, and what is left out.

    where is None for the whole table. max_files cuts the groups at a number of files. With a code
    nothing may be rewritten, and the groups are those of the whole table.
    """

    groups: tuple[FileGroup, ...]
    where: str | None = None
    sentence: str = ""
    limit: str = ""  # the reason why no more of the table is taken
    max_files: int | None = None
    code: SkipCode | None = None
    next_at: datetime | None = None

    @cached_property
    def estimate(self) -> Estimate:
        """What the job would do."""
        return estimate_groups(self.groups, self.max_files)

    @property
    def is_worthwhile(self) -> bool:
        """True when the job would remove files or apply deletes."""
        return self.code is None and bool(
            self.estimate.items_removed or self.estimate.files_with_deletes
        )


def leave_out_hot(
    groups: Iterable[FileGroup], health: TableHealth, age: timedelta, now: datetime
) -> tuple[list[FileGroup], LeftOut]:
    """Leave out the groups in partitions that were written to within the age.

    A table without partitions cannot leave any out.
    """
    written = _find_recent(health, age, now)
    hot, cold = _part(groups, written.keys())
    if not hot:
        return cold, LeftOut()
    last = (max(written[key] for key in group.partitions if key in written) for group in hot)
    sentence = (
        f"{count_partitions(hot)} left out, because they were written to within "
        f"{format_duration(age)}"
    )
    return cold, LeftOut(tuple(hot), sentence, min(last) + age)


def leave_out_heavy(
    groups: Iterable[FileGroup], too_heavy: frozenset[PartitionKey]
) -> tuple[list[FileGroup], LeftOut]:
    """Leave out the groups in partitions whose equality deletes do not fit in memory."""
    heavy, light = _part(groups, too_heavy)
    if not heavy:
        return light, LeftOut()
    sentence = f"{count_partitions(heavy)} left out, because their deletes need too much memory"
    return light, LeftOut(tuple(heavy), sentence)


def take_best(
    groups: Iterable[FileGroup], health: TableHealth, max_bytes: int | None, max_characters: int
) -> tuple[list[FileGroup], str]:
    """The groups with the most gain per byte that fit in one job, and the filter for them.

    The best group is taken even if it alone exceeds the bytes. No groups: none can be selected by
    a filter of this length.
    """
    chosen: list[FileGroup] = []
    filters: list[str] = []
    size = 0
    for group in sorted(groups, key=_rank):
        fits = max_bytes is None or size + group.bytes <= max_bytes
        where = (
            write_where(health.table.catalog, group.partitions, health.specs)
            if fits or not chosen
            else None
        )
        if where is not None and len(" OR ".join([*filters, where])) <= max_characters:
            chosen.append(group)
            filters.append(where)
            size += group.bytes
    return chosen, " OR ".join(dict.fromkeys(filters))


def count_partitions(groups: Sequence[FileGroup]) -> str:
    """The number of partitions of the groups as text."""
    number = len({key for group in groups for key in group.partitions})
    return f"{format_count(number, 'partition')}"


def _find_recent(
    health: TableHealth, age: timedelta, now: datetime
) -> dict[PartitionKey, datetime]:
    """Partitions written to within the age, and when."""
    found = ((p.spec_id, p.partition, p.written_at) for p in health.partitions if p.partition)
    return {
        (spec_id, partition): at
        for spec_id, partition, at in found
        if at is not None and is_recent(at, age, now)
    }


def _part(
    groups: Iterable[FileGroup], partitions: AbstractSet[PartitionKey]
) -> tuple[list[FileGroup], list[FileGroup]]:
    """The groups with files in these partitions, and the others."""
    inside: list[FileGroup] = []
    outside: list[FileGroup] = []
    for group in groups:
        (outside if partitions.isdisjoint(group.partitions) else inside).append(group)
    return inside, outside


def _rank(group: FileGroup) -> tuple[float, tuple[PartitionKey, ...]]:
    return -(group.removed + group.deleted_files) / max(1, group.bytes), group.partitions


def select_groups(
    rule: RewriteDataFilesRule, health: TableHealth, now: datetime, bounds: JobBounds | None = None
) -> Selection:
    """The file groups of the next job: normally those of the whole table.

    If some groups are hot or too heavy, or the table is too large for a job, the groups with the
    most gain per byte are taken. Each further limit takes a part of them, if that part has a gain:
    the first files that Iceberg finds may have no gain.
    """
    bounds = JobBounds.of_policy(rule) if bounds is None else bounds
    options = PlannerOptions.read(health, rule, now, bounds.fit.options)
    every = tuple(plan_groups(health, options))
    gaining = [group for group in every if group.removed or group.deleted_files]
    cold, hot = leave_out_hot(gaining, health, bounds.hot_age, now)
    ready, heavy = leave_out_heavy(cold, bounds.fit.too_heavy)
    most_characters = MAX_WHERE_CHARACTERS - len(rule.where or "")
    groups = _Groups(health, options, bounds, most_characters, every, ready, hot, heavy)
    max_bytes = rule.max_bytes_per_job
    selection = _take(groups, max_bytes)
    for limit in bounds.limits:
        size = sum(group.bytes for group in selection.groups)
        taken = size if limit.is_of_groups else selection.estimate.bytes_rewritten
        if selection.is_worthwhile and taken > limit.bytes:
            most = min(limit.bytes, max_bytes or limit.bytes)
            part = _narrow(groups, selection, most, limit)
            if part is not None and part.is_worthwhile:
                selection, max_bytes = part, most
    return selection


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups of a table: those that may be rewritten now, and those that are left out."""

    health: TableHealth
    options: PlannerOptions
    bounds: JobBounds
    most_characters: int  # of a filter
    every: tuple[FileGroup, ...]
    ready: list[FileGroup]
    hot: LeftOut
    heavy: LeftOut

    @property
    def gaining_bytes(self) -> int:
        """Bytes of all groups with a gain."""
        groups = (*self.ready, *self.hot.groups, *self.heavy.groups)
        return sum(group.bytes for group in groups)


def _take(groups: _Groups, max_bytes: int | None) -> Selection:
    """The whole table if it may be rewritten in one job, else its best groups."""
    whole = Selection(groups.every, max_files=groups.options.max_files)
    hot, heavy = groups.hot, groups.heavy
    is_whole = not hot.groups and not heavy.groups
    if is_whole and (max_bytes is None or groups.gaining_bytes <= max_bytes):
        return whole
    chosen, where = take_best(groups.ready, groups.health, max_bytes, groups.most_characters)
    if chosen:
        # A filter selects whole partitions, and therefore all their groups.
        partitions = {key for group in chosen for key in group.partitions}
        taken = tuple(group for group in groups.every if partitions.intersection(group.partitions))
        return replace(
            whole, groups=taken, where=where, sentence=_explain(groups, chosen, partitions)
        )
    if hot.groups:
        sentence = (
            f"the possible gain is in {count_partitions(hot.groups)} that were written to within "
            f"{format_duration(groups.bounds.hot_age)}"
        )
        if groups.ready:
            sentence += ", and no filter can be written for the others"
        return replace(whole, sentence=sentence, code=SkipCode.HOT_PARTITION, next_at=hot.next_at)
    if heavy.groups:
        return replace(whole, sentence=groups.bounds.fit.refusal, code=SkipCode.UNSAFE)
    sentence = (
        "no filter can be written for its partitions, so the whole table is rewritten at once"
    )
    return replace(whole, sentence=sentence)


def _explain(
    groups: _Groups, chosen: Sequence[FileGroup], partitions: AbstractSet[PartitionKey]
) -> str:
    parts = [f"{count_partitions(chosen)} now"]
    if len(chosen) < len(groups.ready):
        later = [group for group in groups.ready if partitions.isdisjoint(group.partitions)]
        parts.append(f"{count_partitions(later)} in later jobs")
    if groups.hot.sentence:
        parts.append(groups.hot.sentence)
    specs = {spec_id for group in chosen for spec_id, _ in group.partitions}
    if any(partition.spec_id not in specs for partition in groups.health.partitions):
        parts.append("with files of other specs whose values overlap")
    if groups.heavy.sentence:
        parts.append(groups.heavy.sentence)
    return ", ".join(parts)


def _narrow(groups: _Groups, whole: Selection, most: int, limit: Limit) -> Selection | None:
    """At most this many bytes: first by partitions, then by a number of files.

    None if it cannot be divided. The policy's number of files is kept.
    """
    part = _take(groups, most)
    files, size = (
        sum(group.files for group in part.groups),
        sum(group.bytes for group in part.groups),
    )
    # At least as many files as Iceberg needs for a group, and at least two.
    fitting = max(2, groups.options.min_input_files, limit.bytes * files // max(1, size))
    max_files = whole.max_files
    if max_files is None and size > limit.bytes:
        max_files = fitting
    if max_files is not None and max_files < files:
        size = size * max_files // files
        amount = f"{max_files:,} files of {format_size(size)}"
    elif part.where is not None:
        # If the table has only a few large files, they cannot be divided.
        max_files, amount = whole.max_files, format_size(size)
    else:
        return None
    reason = limit.reason(size, whole.estimate.bytes_rewritten)
    return replace(part, max_files=max_files, limit=f"only {amount} at once, {reason}")
