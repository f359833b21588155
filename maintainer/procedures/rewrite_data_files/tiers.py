"""The size below which one job rewrites files, so that no byte is rewritten too often.

The sizes up to the planner's own bound are divided into tiers. Files of a tier are merged only into
files of a higher tier, so each byte is rewritten at most once in each tier.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import MIB, format_count, format_size, is_recent
from maintainer.estimate.rewrite_data_files import FileGroup, PlannerOptions, plan_groups
from maintainer.procedures.rewrite_data_files.limits import JobBounds

MIN_FILE_SIZE = "min-file-size-bytes"
SPAN = 512  # the largest bound divided by the smallest
MOST_TIERS = 20  # with more, the bounds would hardly differ
COLD_AGE = timedelta(days=1)
# To rewrite these takes a few seconds, less than the start of a job: waiting would save nothing.
FREE_BYTES = 8 * MIB


@dataclass(frozen=True, slots=True)
class Tier:
    """The options of the job, the partitions that wait, and what waits as a sentence.

    next_at: when the first of these partitions gets its full merge without further files.
    """

    options: Mapping[str, str]
    gathering: frozenset[PartitionKey] = frozenset()
    sentence: str = ""
    next_at: datetime | None = None


def find_bounds(largest: int, most_rewrites: int) -> tuple[int, ...]:
    """One size for each tier, evenly spaced by ratio, the largest first."""
    number = min(most_rewrites, MOST_TIERS)
    factor = SPAN ** (1 / max(1, number - 1))
    return tuple(max(1, round(largest / factor**position)) for position in range(number))


def choose_tier(
    rule: RewriteDataFilesRule, health: TableHealth, now: datetime, bounds: JobBounds
) -> Tier:
    """The bound with the most gain per byte, of those that enough files have gathered below.

    Partitions without writes for a day come first: each gets one full merge, so they cannot keep
    others waiting for ever. A partition is merged below the largest such bound, so that its bytes
    skip the tiers between. Without the field, or with a bound in the policy's own options,
    everything is taken.
    """
    options = bounds.fit.options
    most = rule.max_rewrites_per_byte
    if most is None or MIN_FILE_SIZE in options:
        return Tier(options)
    own = PlannerOptions.read(health, rule, now, options)
    every = plan_groups(health, own)
    if own.bounds.takes_all or sum(group.bytes for group in every) <= FREE_BYTES:
        return Tier(options)
    sizes = find_bounds(own.sizes.small_below, most)
    warm = _find_warm(health, now)
    planned = {sizes[0]: every} | {
        size: plan_groups(
            health, PlannerOptions.read(health, rule, now, {**options, MIN_FILE_SIZE: str(size)})
        )
        for size in sizes[1:]
    }
    ripe = _find_ripe(planned, sizes, warm.keys())
    hot = {key for key, at in warm.items() if key[1] and is_recent(at, bounds.hot_age, now)}
    chosen = _choose(planned, ripe, hot, warm.keys())
    gathering = frozenset(
        key
        for group in planned[chosen]
        for key in group.partitions
        if group.gains and key not in hot and ripe.get(key) != chosen
    )
    return Tier(
        options if chosen == sizes[0] else {**options, MIN_FILE_SIZE: str(chosen)},
        gathering,
        _explain(
            [one for one in every if one.gains and _are_ripe(one, ripe, {None, chosen})],
            [one for one in planned[chosen] if _are_ripe(one, ripe, {chosen})],
            sizes,
        ),
        min((warm[key] + COLD_AGE for key in gathering if key in warm), default=None),
    )


def wait_for_tier(bounds: JobBounds, tier: Tier) -> JobBounds:
    """The bounds of the job with the tier's options, and without the partitions that wait."""
    return replace(
        bounds,
        fit=replace(bounds.fit, options=tier.options),
        gathering=tier.gathering,
        gathering_sentence=tier.sentence,
        gathered_at=tier.next_at,
    )


def _find_warm(health: TableHealth, now: datetime) -> dict[PartitionKey, datetime]:
    """The partitions that were written to within a day, and when."""
    found = (
        (
            (part.spec_id, part.partition),
            part.written_at if part.partition else health.last_write_at,
        )
        for part in health.partitions
    )
    return {key: at for key, at in found if at is not None and is_recent(at, COLD_AGE, now)}


def _find_ripe(
    planned: Mapping[int, Sequence[FileGroup]],
    sizes: Sequence[int],
    warm: Iterable[PartitionKey],
) -> dict[PartitionKey, int]:
    """The largest bound below which each partition has gathered enough; no bound: it waits."""
    ripe: dict[PartitionKey, int] = {}
    for size in sizes:
        places: dict[tuple[PartitionKey, ...], list[FileGroup]] = defaultdict(list)
        for group in planned[size]:
            places[group.partitions].append(group)
        for keys, groups in places.items():
            is_cold = not set(keys) & set(warm)
            if _is_ripe(groups, size, is_cold=is_cold, is_smallest=size == sizes[-1]):
                for key in keys:
                    ripe.setdefault(key, size)
    return ripe


def _is_ripe(groups: Sequence[FileGroup], size: int, *, is_cold: bool, is_smallest: bool) -> bool:
    """True if the new files would leave the tier, or nobody adds to the partition any more.

    Deletes are applied without a wait, together with as few other files as possible.
    """
    if is_smallest and any(group.deleted_files for group in groups):
        return True
    if not any(group.removed for group in groups):
        return False
    outputs = sum(group.outputs.expected for group in groups)
    return is_cold or sum(group.bytes for group in groups) >= size * outputs


def _choose(
    planned: Mapping[int, Sequence[FileGroup]],
    ripe: Mapping[PartitionKey, int],
    hot: set[PartitionKey],
    warm: AbstractSet[PartitionKey],
) -> int:
    """The bound with the most gain per byte; the largest if there is none.

    A bound with a cold partition comes first. What waits for its turn gathers more than its tier
    needs, and the square of that excess raises its rank, so that no partition waits for ever.
    """
    ranks: dict[int, tuple[bool, float]] = {}
    for size, groups in planned.items():
        taken = [
            group
            for group in groups
            if _are_ripe(group, ripe, {size}) and hot.isdisjoint(group.partitions)
        ]
        gain = sum(group.removed + group.deleted_files for group in taken)
        read = max(1, sum(group.bytes for group in taken))
        excess = read / max(1, size * sum(group.outputs.expected for group in taken))
        is_cold = any(warm.isdisjoint(group.partitions) for group in taken)
        ranks[size] = (is_cold, gain / read * excess**2)
    return max(ranks, key=lambda size: ranks[size])


def _are_ripe(
    group: FileGroup, ripe: Mapping[PartitionKey, int], sizes: set[int | None] | set[int]
) -> bool:
    return all(ripe.get(key) in sizes for key in group.partitions)


def _explain(every: Sequence[FileGroup], taken: Sequence[FileGroup], sizes: Sequence[int]) -> str:
    """The files that would be taken without tiers, and are not taken now."""
    left = Counter[tuple[PartitionKey, ...]]()
    for groups, sign in ((every, 1), (taken, -1)):
        for group in groups:
            left[group.partitions] += sign * group.files
    files, places = left.total(), sum(number > 0 for number in left.values())
    if files <= 0:
        return ""
    size = sum(group.bytes for group in every) - sum(group.bytes for group in taken)
    mean = max(1, size // files)
    what = f"{format_count(files, 'file')} of about {format_size(mean)}"
    if places > 1:
        return f"{what} in {places:,} partitions wait until there are more"
    bound = min((one for one in sizes if one > mean), default=sizes[0])
    return f"{what} wait until there are {max(files + 1, -(-bound // mean)):,}"
