"""The partitions of the next rewrite: not hot, and no more at once than a job may read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from maintainer.domain.health import TableHealth
from maintainer.domain.instants import is_recent
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_duration
from maintainer.estimate.filter_writer import MAX_WHERE_CHARACTERS, write_where
from maintainer.estimate.rewrite_data_files import FileGroup, Place, PlannerOptions, plan_groups


@dataclass(frozen=True, slots=True)
class Scope:
    """The chosen partitions, and the filter that selects them; without both: the whole table."""

    within: frozenset[Place] | None = None
    where: str | None = None
    sentence: str = ""  # what is left out, and why
    is_hot: bool = False  # nothing is chosen, because all useful partitions are hot
    next_at: datetime | None = None
    # nothing is chosen, because the deletes of all useful partitions exceed the memory
    is_too_heavy: bool = False
    groups: tuple[FileGroup, ...] = ()  # of the whole table


def choose_scope(
    rule: RewriteDataFilesRule,
    health: TableHealth,
    now: datetime,
    too_heavy: frozenset[Place] = frozenset(),
) -> Scope:
    """The partitions for a rewrite: normally the whole table.

    If some are hot or have too many deletes, or the table is more than a job may rewrite, those
    with the most gain per byte are chosen.
    """
    groups = tuple(plan_groups(health, PlannerOptions.read(health, rule, now)))
    return replace(_choose_scope(rule, health, now, groups, too_heavy), groups=groups)


def _choose_scope(
    rule: RewriteDataFilesRule,
    health: TableHealth,
    now: datetime,
    groups: Sequence[FileGroup],
    too_heavy: frozenset[Place],
) -> Scope:
    gaining = [group for group in groups if group.removed or group.deleted_files]
    age = rule.hot_partition_age
    written = _find_recent(health, age, now)
    hot = [group for group in gaining if not written.keys().isdisjoint(group.places)]
    heavy = [group for group in gaining if too_heavy.intersection(group.places)]
    cold = [group for group in gaining if group not in hot and group not in heavy]
    most = rule.max_bytes_per_job
    if not hot and not heavy and (most is None or sum(group.bytes for group in gaining) <= most):
        return Scope()
    chosen, where = _choose(cold, health, most, MAX_WHERE_CHARACTERS - len(rule.where or ""))
    if chosen:
        within = frozenset(place for group in chosen for place in group.places)
        explained = _explain(chosen, cold, hot, age, health)
        return Scope(
            within,
            where,
            f"{explained}, {_count(heavy)} left alone for the memory that their deletes take"
            if heavy
            else explained,
        )
    if heavy and not hot:
        return Scope(frozenset(), None, is_too_heavy=True)
    if not hot:
        return Scope(
            sentence="no filter can be written for its partitions, so the whole table is taken at "
            "once"
        )
    next_at = (
        min(max(written[place] for place in group.places if place in written) for group in hot)
        + age
    )
    sentence = (
        f"what there is to gain lies in {_count(hot)} written to within {format_duration(age)}"
    )
    return Scope(
        frozenset(),
        None,
        sentence if not cold else f"{sentence}, and no filter can be written for the others",
        is_hot=True,
        next_at=next_at,
    )


def _find_recent(health: TableHealth, age: timedelta, now: datetime) -> dict[Place, datetime]:
    """Partitions written to within the age, and when.

    Empty for a table without partitions, which cannot leave any out.
    """
    found = ((p.spec_id, p.partition, p.written_at) for p in health.partitions if p.partition)
    return {
        (spec_id, partition): at
        for spec_id, partition, at in found
        if at is not None and is_recent(at, age, now)
    }


def _choose(
    cold: Iterable[FileGroup], health: TableHealth, most_bytes: int | None, most_characters: int
) -> tuple[list[FileGroup], str]:
    """The best groups that fit in a job and a filter together.

    The best group alone if it is already too large for a job.
    """
    chosen: list[FileGroup] = []
    filters: list[str] = []
    for group in sorted(
        cold,
        key=lambda group: (
            -(group.removed + group.deleted_files) / max(1, group.bytes),
            group.places,
        ),
    ):
        fits = most_bytes is None or sum(one.bytes for one in (*chosen, group)) <= most_bytes
        where = (
            write_where(health.table.catalog, group.places, health.specs)
            if fits or not chosen
            else None
        )
        if where is not None and len(" OR ".join([*filters, where])) <= most_characters:
            chosen.append(group)
            filters.append(where)
    return chosen, " OR ".join(dict.fromkeys(filters))


def _explain(
    chosen: Sequence[FileGroup],
    cold: Sequence[FileGroup],
    hot: Sequence[FileGroup],
    age: timedelta,
    health: TableHealth,
) -> str:
    parts = [f"{_count(chosen)} now"]
    if len(chosen) < len(cold):
        parts.append(f"{_count(cold[len(chosen) :])} in later jobs")
    if hot:
        parts.append(f"{_count(hot)} left alone, written to within {format_duration(age)}")
    specs = {spec_id for group in chosen for spec_id, _ in group.places}
    if any(partition.spec_id not in specs for partition in health.partitions):
        parts.append("with files of other specs whose values overlap")
    return ", ".join(parts)


def _count(groups: Sequence[FileGroup]) -> str:
    number = len({place for group in groups for place in group.places})
    return f"{number:,} partition{'' if number == 1 else 's'}"
