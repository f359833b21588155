"""The file groups of one job: they are planned once, and each stage chooses from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_count, format_duration, format_size, is_recent
from maintainer.estimate.filters.filter_writer import MAX_WHERE_CHARACTERS, write_where
from maintainer.estimate.filters.partition_filter import PartitionFilter, Taken
from maintainer.estimate.rewrite_data_files import (
    FileGroup,
    PlannerOptions,
    estimate_groups,
    plan_groups,
)
from maintainer.procedures.rewrite_data_files.limits import JobBounds, Limit


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Groups that must not be rewritten now, as a sentence.

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
    groups: Iterable[FileGroup],
    health: TableHealth,
    max_bytes: int | None,
    max_characters: int,
    barred: Collection[PartitionKey] = (),
) -> tuple[list[FileGroup], tuple[str, ...]]:
    """The groups with the most gain per byte that fit in one job, and the filters for them.

    The best group is taken even if it alone exceeds the bytes. A group is left out if its filter
    also selects files of a barred partition. No groups: none can be selected by a filter of this
    length.
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
        if (
            where is not None
            and len(" OR ".join([*filters, where])) <= max_characters
            and not find_overlap(health, group.partitions, barred)
        ):
            chosen.append(group)
            filters.append(where)
            size += group.bytes
    return chosen, tuple(dict.fromkeys(filters))


def find_overlap(
    health: TableHealth, partitions: Collection[PartitionKey], others: Iterable[PartitionKey]
) -> set[PartitionKey]:
    """Those of the other partitions whose files a filter for these partitions may select too.

    For its own spec, a filter selects exactly its partitions. Files of other specs may have the
    same values.
    """
    specs = {spec_id for spec_id, _ in partitions}
    foreign = [key for key in others if key not in partitions and specs - {key[0]}]
    if not foreign:
        return set()
    filters = [
        PartitionFilter.read(
            write_where(health.table.catalog, [key], health.specs), None, health.specs
        )
        for key in partitions
    ]
    return {key for key in foreign if any(one.take(*key) is not Taken.NONE for one in filters)}


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
    """The file groups that Spark rewrites in the next job, under the filter that is written.

    Without a filter Iceberg rewrites every group of the table. So there is none only if each group
    has a gain and may be rewritten now. Otherwise the groups with the most gain per byte are taken.
    Each further limit takes a part of them, if that part has a gain: the first files that Iceberg
    finds may have no gain.
    """
    bounds = JobBounds.of_policy(rule) if bounds is None else bounds
    options = PlannerOptions.read(health, rule, now, bounds.fit.options)
    every = tuple(plan_groups(health, options))
    gathering, ripe = _part(every, bounds.gathering)
    cold, hot = leave_out_hot(ripe, health, bounds.hot_age, now)
    light, heavy = leave_out_heavy(cold, bounds.fit.too_heavy)
    _, waiting = leave_out_hot(
        (group for group in ripe if group.gains), health, bounds.hot_age, now
    )
    most_characters = MAX_WHERE_CHARACTERS - len(rule.where or "")
    ready = [group for group in light if group.gains]
    groups = _Groups(
        health,
        options,
        bounds,
        most_characters,
        every,
        ready,
        hot,
        heavy,
        waiting,
        LeftOut(tuple(gathering), bounds.gathering_sentence, bounds.gathered_at),
    )
    max_bytes = rule.max_bytes_per_job
    selection = _take(groups, max_bytes)
    for limit in bounds.limits:
        size = sum(group.bytes for group in selection.groups)
        taken = size if limit.is_of_groups else selection.estimate.bytes_rewritten
        if selection.is_worthwhile and taken > limit.bytes:
            # A filter takes whole partitions: more bytes than were chosen may be over this limit.
            most = min(limit.bytes, max_bytes or limit.bytes)
            part = _narrow(groups, selection, most, limit)
            if part is not None and part.is_worthwhile:
                selection, max_bytes = part, most
    return selection


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups that Iceberg would rewrite: those to rewrite now, and those that are left out."""

    health: TableHealth
    options: PlannerOptions
    bounds: JobBounds
    most_characters: int  # of a filter
    every: tuple[FileGroup, ...]
    ready: list[FileGroup]  # they have a gain
    hot: LeftOut
    heavy: LeftOut
    waiting: LeftOut  # the hot groups with a gain
    gathering: LeftOut  # they wait for more files

    @property
    def idle(self) -> list[FileGroup]:
        """The groups that may be rewritten now, and would not gain."""
        barred = self.barred
        return [
            group for group in self.every if not group.gains and barred.isdisjoint(group.partitions)
        ]

    @property
    def barred(self) -> set[PartitionKey]:
        """The partitions that must not be rewritten now."""
        left_out = (*self.hot.groups, *self.heavy.groups, *self.gathering.groups)
        return {key for group in left_out for key in group.partitions}

    @property
    def bytes(self) -> int:
        """Bytes of all groups that Iceberg would rewrite."""
        return sum(group.bytes for group in self.every)


def _take(groups: _Groups, max_bytes: int | None) -> Selection:
    """The whole table if each of its groups may and should be rewritten, else its best groups."""
    whole = Selection(groups.every, max_files=groups.options.max_files)
    fits = max_bytes is None or groups.bytes <= max_bytes
    if len(groups.ready) == len(groups.every) and fits:
        return whole
    if not groups.ready:
        return _wait(groups, whole)
    barred = groups.barred
    chosen, filters = take_best(
        groups.ready, groups.health, max_bytes, groups.most_characters, barred
    )
    if chosen:
        taken, overlap = _find_taken(groups, chosen)
        return replace(
            whole,
            groups=taken,
            where=" OR ".join(filters),
            sentence=_explain(groups, chosen, is_overlapping=bool(overlap)),
        )
    if groups.hot.groups or groups.heavy.groups or groups.gathering.groups:
        return _wait(groups, whole)
    return replace(whole, sentence=_explain_whole(groups, fits=fits))


def _explain_whole(groups: _Groups, *, fits: bool) -> str:
    """Why a job takes more than it should; empty for a table of one partition."""
    if not fits:
        return (
            "no filter can be written for its partitions, so the whole table is rewritten at once"
        )
    gaining = {key for group in groups.ready for key in group.partitions}
    idle = [group for group in groups.idle if gaining.isdisjoint(group.partitions)]
    return (
        f"including {count_partitions(idle)} where nothing is gained, because no filter can be "
        f"written that leaves them out"
        if idle
        else ""
    )


def _wait(groups: _Groups, whole: Selection) -> Selection:
    """No job now, because what would gain is left out, or cannot be selected without the rest."""
    hot, waiting, heavy = groups.hot, groups.waiting, groups.heavy
    has_others = bool(groups.ready)
    age = format_duration(groups.bounds.hot_age)
    if waiting.groups:
        partitions = count_partitions(waiting.groups)
        sentence = f"the possible gain is in {partitions} that were written to within {age}"
        if has_others:
            sentence += ", and no filter can be written for the others"
        return replace(
            whole, sentence=sentence, code=SkipCode.HOT_PARTITION, next_at=waiting.next_at
        )
    if hot.groups and has_others:
        sentence = (
            f"no filter can be written that leaves out {count_partitions(hot.groups)} that were "
            f"written to within {age}"
        )
        return replace(whole, sentence=sentence, code=SkipCode.HOT_PARTITION, next_at=hot.next_at)
    if heavy.groups and (has_others or any(group.gains for group in heavy.groups)):
        return replace(whole, sentence=groups.bounds.fit.refusal, code=SkipCode.UNSAFE)
    gathering = groups.gathering
    if gathering.groups:
        sentence = gathering.sentence or (
            f"no filter can be written that leaves out {count_partitions(gathering.groups)} for a "
            f"later job"
        )
        return replace(
            whole, sentence=sentence, code=SkipCode.NOTHING_TO_GAIN, next_at=gathering.next_at
        )
    return whole


def _find_taken(
    groups: _Groups, chosen: Sequence[FileGroup]
) -> tuple[tuple[FileGroup, ...], set[PartitionKey]]:
    """The groups that Iceberg rewrites with the chosen ones, and the partitions that come along.

    A filter selects whole partitions, and therefore all their groups. Files of other specs whose
    values overlap make groups of their own.
    """
    partitions = {key for group in chosen for key in group.partitions}
    others = {key for group in groups.every for key in group.partitions}
    overlap = find_overlap(groups.health, partitions, others)
    if not overlap:
        every = groups.every
        return tuple(one for one in every if partitions.intersection(one.partitions)), overlap
    planned = plan_groups(groups.health, groups.options, partitions | overlap)
    taken = [replace(one, is_cut=not overlap.isdisjoint(one.partitions)) for one in planned]
    return tuple(taken), overlap


def _explain(groups: _Groups, chosen: Sequence[FileGroup], *, is_overlapping: bool) -> str:
    partitions = {key for group in chosen for key in group.partitions}
    parts = [f"{count_partitions(chosen)} now"]
    later = [group for group in groups.ready if partitions.isdisjoint(group.partitions)]
    if later:
        parts.append(f"{count_partitions(later)} in later jobs")
    idle = [group for group in groups.idle if partitions.isdisjoint(group.partitions)]
    if idle:
        parts.append(f"{count_partitions(idle)} left out, because nothing would be gained there")
    if groups.hot.sentence:
        parts.append(groups.hot.sentence)
    if is_overlapping:
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
