"""The file groups of one job: they are planned once, and each stage chooses from them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from maintainer.decide.rewrite.file_groups import (
    LeftOut,
    Selection,
    count_partitions,
    leave_out_heavy,
    leave_out_hot,
    take_best,
)
from maintainer.decide.rewrite.limits import JobBounds, Limit
from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.plan import SkipCode
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_duration, format_size
from maintainer.estimate.filters.filter_writer import MAX_WHERE_CHARACTERS
from maintainer.estimate.rewrite_data_files import FileGroup, PlannerOptions, plan_groups


def select_groups(
    rule: RewriteDataFilesRule, health: TableHealth, now: datetime, bounds: JobBounds | None = None
) -> Selection:
    """The file groups of the next job: normally those of the whole table.

    If some are hot or too heavy, or the table is more than a job may rewrite, those with the most
    gain per byte. Each further limit takes a part of them, if that part gains anything: the first
    files that Iceberg finds may be without gain.
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
        """Bytes of all groups that would gain something."""
        groups = (*self.ready, *self.hot.groups, *self.heavy.groups)
        return sum(group.bytes for group in groups)


def _take(groups: _Groups, max_bytes: int | None) -> Selection:
    """The whole table if it may be rewritten at once, else its best groups."""
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

    None if it cannot be parted. The policy's own number of files stays.
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
