"""The stages that choose the file groups of a rewrite.

Groups are planned once. Then hot ones are left out, then those whose deletes do not fit in memory,
and the best of the rest are taken. Each stage takes groups, and returns groups and a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.instants import is_recent
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.units import format_count, format_duration
from maintainer.estimate.filters.filter_writer import write_where
from maintainer.estimate.rewrite_data_files import FileGroup, estimate_groups


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Groups that would gain something but must not be rewritten now, as a sentence.

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
    """Without the groups in partitions that were written to within the age.

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
    """Without the groups in partitions whose equality deletes do not fit in memory."""
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
