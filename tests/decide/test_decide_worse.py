"""Worse health never yields fewer actions under the same policy: one dimension is made worse at a
time, and everything planned before is still planned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import assert_never

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import Content, Unreadable
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy, Rule, RuleName
from maintainer.domain.rules import (
    RULES,
    ExpireSnapshotsRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.domain.units import GIB, KIB, MIB
from maintainer.measure.health import measure
from tests.examples import examples
from tests.samples import NOW, health_of_partitions, inventory, manifest, share, snapshot

DAY = timedelta(days=1)
FILES = RewriteDataFilesRule()
ONLY_FILES = Policy(Mode.ENFORCE, rules=(FILES,))
NOW_ONLY = Circumstances(NOW)


class Dimension(StrEnum):
    SMALL_FILES = "more small files in a partition"
    PARTITIONS = "one more partition of small files"
    POSITION_DELETES = "more position delete files in a partition"
    MANIFESTS = "the same entries in more manifests"
    SNAPSHOTS = "a longer history"


# What more of a dimension rightly makes better. More data files are no reason to do more about
# deletes: those are a smaller share then, and each of the files may be left with a delete file of
# its own by the rewrite of those. More of them among what is kept makes what is kept live.
LESS_ABOUT_DELETES = frozenset(
    {Metric.DELETE_RATIO, Metric.DELETE_FILE_RATIO, Metric.LIVE_FILE_RATIO}
)
BETTER: Mapping[Dimension, frozenset[Metric]] = {
    Dimension.SMALL_FILES: LESS_ABOUT_DELETES,
    Dimension.PARTITIONS: LESS_ABOUT_DELETES,
}
SPARED: Mapping[Dimension, frozenset[RuleName]] = {
    Dimension.SMALL_FILES: frozenset({RuleName.REWRITE_POSITION_DELETE_FILES})
}


@dataclass(frozen=True)
class State:
    """A table by what makes it worse; sizes in bytes, the newest snapshot last."""

    partitions: tuple[tuple[tuple[int, ...], int], ...]  # file sizes, and position delete files
    manifests: int
    manifest_bytes: int
    ages: tuple[timedelta, ...]
    format_version: int

    @property
    def smallest_file(self) -> int:
        return min((size for sizes, _ in self.partitions for size in sizes), default=1000)


def measure_state(state: State) -> TableHealth:
    names = [f"p={number}" for number in range(len(state.partitions))]
    scattered = [
        [
            share(list(some), name)
            for name, (sizes, _) in zip(names, state.partitions, strict=True)
            if (some := sizes[number :: state.manifests])
        ]
        for number in range(state.manifests)
    ]
    manifests = [
        manifest(f"m{number}", shares, state.manifest_bytes // state.manifests)
        for number, shares in enumerate(scattered)
    ]
    deletes = [
        share([100] * files, name, Content.POSITION_DELETES)
        for name, (_, files) in zip(names, state.partitions, strict=True)
        if files
    ]
    if deletes:
        manifests.append(manifest("deletes", deletes))
    line = tuple(
        snapshot(number + 1, age, parent_id=number or None) for number, age in enumerate(state.ages)
    )
    return measure(replace(inventory(tuple(manifests), line), format_version=state.format_version))


def worsen(state: State, dimension: Dimension, place: int, more: int) -> State:
    """By so much; files that are added are no larger than any that is there, so that they are small
    and the average does not rise.
    """
    at, size = place % len(state.partitions), min(state.smallest_file, 300 * MIB)
    sizes, deletes = state.partitions[at]
    before, after = state.partitions[:at], state.partitions[at + 1 :]
    match dimension:
        case Dimension.SMALL_FILES:
            return replace(state, partitions=(*before, ((*sizes, *[size] * more), deletes), *after))
        case Dimension.PARTITIONS:
            return replace(state, partitions=(*state.partitions, ((size,) * more, 0)))
        case Dimension.POSITION_DELETES:
            return replace(state, partitions=(*before, (sizes, deletes + more), *after))
        case Dimension.MANIFESTS:
            return replace(state, manifests=state.manifests + more)
        case Dimension.SNAPSHOTS:
            oldest = max(state.ages)
            return replace(
                state, ages=(*(oldest + DAY * number for number in range(more, 0, -1)), *state.ages)
            )
        case _:
            assert_never(dimension)


SIZES = st.sampled_from(
    [KIB, 100 * KIB, 5 * MIB, 40 * MIB, 300 * MIB, 383 * MIB, 500 * MIB, 700 * MIB, 1200 * MIB]
)
# With at least one file: a rewrite drops manifests without any, and the first file needs them.
STATES = st.builds(
    State,
    st.lists(
        st.tuples(st.lists(SIZES, max_size=12).map(tuple), st.integers(0, 8)),
        min_size=1,
        max_size=4,
    )
    .map(tuple)
    .filter(lambda partitions: any(sizes for sizes, _ in partitions)),
    st.integers(1, 12),
    st.sampled_from([8000, 4 * MIB, 8 * MIB, 20 * MIB]),
    st.lists(st.integers(0, 30 * 24), min_size=1, max_size=15).map(
        lambda hours: tuple(timedelta(hours=hour) for hour in sorted(hours, reverse=True))
    ),
    st.sampled_from([2, 3]),
)
BOUNDS: Mapping[Metric, st.SearchStrategy[float]] = {
    Metric.AVERAGE_FILE_SIZE_BYTES: st.sampled_from(
        [float(MIB), 32.0 * MIB, 256.0 * MIB, 1024.0 * MIB]
    ),
    Metric.OLDEST_SNAPSHOT_AGE_SECONDS: st.floats(0, 20 * 86_400),
    **dict.fromkeys(
        (
            Metric.SMALL_FILE_RATIO,
            Metric.DELETE_RATIO,
            Metric.DELETE_FILE_RATIO,
            Metric.LIVE_FILE_RATIO,
        ),
        st.floats(0, 1),
    ),
}
WHENS = st.sampled_from(Metric).flatmap(
    lambda metric: BOUNDS.get(metric, st.integers(0, 12).map(float)).map(
        lambda bound: Threshold(metric, bound)
    )
)
OPTIONS = st.sampled_from(
    [(), (("min-input-files", "2"),), (("min-input-files", "9"),), (("rewrite-all", "true"),)]
)
CONCERNS: Mapping[Dimension, RuleName] = {
    Dimension.SMALL_FILES: RuleName.REWRITE_DATA_FILES,
    Dimension.PARTITIONS: RuleName.REWRITE_DATA_FILES,
    Dimension.POSITION_DELETES: RuleName.REWRITE_POSITION_DELETE_FILES,
    Dimension.MANIFESTS: RuleName.REWRITE_MANIFESTS,
    Dimension.SNAPSHOTS: RuleName.EXPIRE_SNAPSHOTS,
}


FIELDS: Mapping[RuleName, dict[str, st.SearchStrategy[object]]] = {
    RuleName.REWRITE_DATA_FILES: {
        "options": OPTIONS,
        "max_bytes_per_job": st.none() | st.just(500 * MIB),
    },
    RuleName.REWRITE_POSITION_DELETE_FILES: {"options": OPTIONS},
    RuleName.EXPIRE_SNAPSHOTS: {
        "max_age": st.integers(1, 20).map(lambda days: DAY * days),
        "keep": st.integers(2, 12),
    },
}


def draw_rule(names: st.SearchStrategy[RuleName]) -> st.SearchStrategy[Rule]:
    return names.flatmap(
        lambda name: st.builds(
            RULES[name], when=st.lists(WHENS, max_size=2).map(tuple), **FIELDS.get(name, {})
        )
    )


def draw_rules(dimension: Dimension) -> st.SearchStrategy[tuple[Rule, ...]]:
    """One that the dimension concerns, and any others."""
    first = CONCERNS[dimension]
    others = st.lists(
        draw_rule(st.sampled_from([name for name in RuleName if name is not first])),
        unique_by=lambda rule: rule.name,
        max_size=3,
    )
    return st.tuples(draw_rule(st.just(first)), others).map(lambda drawn: (drawn[0], *drawn[1]))


def planned(state: State, policy: Policy) -> set[RuleName]:
    return {one.rule for one in decide(measure_state(state), policy, NOW_ONLY).planned}


@pytest.mark.parametrize("dimension", Dimension)
@given(st.data())
@settings(max_examples=examples(50))
def test_what_was_planned_is_planned_still_when_one_thing_gets_worse(
    dimension: Dimension, data: st.DataObject
) -> None:
    state, rules = data.draw(STATES), data.draw(draw_rules(dimension))
    kept = [
        rule
        for rule in rules
        if not BETTER.get(dimension, frozenset()).intersection(
            threshold.metric for threshold in rule.when
        )
    ]
    policy = Policy(
        Mode.ENFORCE,
        rules=tuple(rule for rule in kept if rule.name not in SPARED.get(dimension, frozenset())),
    )
    worse = worsen(state, dimension, data.draw(st.integers(0, 3)), data.draw(st.integers(1, 12)))
    assert planned(state, policy) <= planned(worse, policy)


@pytest.mark.parametrize("dimension", Dimension)
def test_each_dimension_alone_can_make_something_planned_that_was_not(dimension: Dimension) -> None:
    """Otherwise the property above would hold of a decision that looks at nothing."""
    state = State((((MIB,) * 3, 1), ((MIB,) * 3, 0)), 1, 8000, (DAY,), 3)
    rule, more = {
        Dimension.SMALL_FILES: (FILES, 2),
        Dimension.PARTITIONS: (FILES, 5),
        Dimension.POSITION_DELETES: (
            RewritePositionDeleteFilesRule(
                when=(Threshold(Metric.POSITION_DELETE_FILE_COUNT, 5),),
            ),
            5,
        ),
        Dimension.MANIFESTS: (RewriteManifestsRule(), 5),
        Dimension.SNAPSHOTS: (ExpireSnapshotsRule(max_age=2 * DAY, keep=2), 5),
    }[dimension]
    policy = Policy(Mode.ENFORCE, rules=(rule,))
    assert planned(state, policy) == set()
    assert planned(worsen(state, dimension, 0, more), policy) == {rule.name}


# Where worse health rightly yields fewer actions, by name.


def test_a_larger_small_file_may_leave_groups_that_are_too_few_files_for_a_rewrite() -> None:
    """Iceberg fills groups one after the other up to max-file-group-size-bytes: with more to share
    out, none of them may have enough files.
    """
    options = (("max-file-group-size-bytes", str(50 * MIB)), ("min-input-files", "5"))
    grouped = Policy(Mode.ENFORCE, rules=(replace(FILES, options=options),))
    enough, scattered = (
        decide(health_of_partitions({"p=1": sizes}), grouped, NOW_ONLY)
        for sizes in ([10 * MIB] * 5, [30 * MIB] + [10 * MIB] * 5)
    )
    assert [one.rule for one in enough.planned] == [RuleName.REWRITE_DATA_FILES]
    assert [one.code for one in scattered.skipped] == [SkipCode.NOTHING_TO_GAIN]


def test_a_partition_that_is_written_to_is_left_alone_however_many_files_that_adds() -> None:
    cold, grown = (health_of_partitions({"p=1": [MIB] * files}) for files in (20, 50))
    hot = replace(
        grown,
        partitions=tuple(replace(partition, written_at=NOW) for partition in grown.partitions),
    )
    assert decide(cold, ONLY_FILES, NOW_ONLY).planned
    assert [one.code for one in decide(hot, ONLY_FILES, NOW_ONLY).skipped] == [
        SkipCode.HOT_PARTITION
    ]


def test_equality_deletes_that_no_memory_holds_are_left_to_readers() -> None:
    held = health_of_partitions({"p=1": [MIB] * 20})
    parts = tuple(
        replace(
            partition, equality_delete_bytes=20 * GIB, equality_delete_records=10**9, delete_files=9
        )
        for partition in held.partitions
    )
    heavy = replace(held, equality_delete_files=9, partitions=parts)
    assert decide(held, ONLY_FILES, NOW_ONLY).planned
    assert [one.code for one in decide(heavy, ONLY_FILES, NOW_ONLY).skipped] == [SkipCode.UNSAFE]


def test_a_table_whose_metadata_cannot_be_read_is_not_touched() -> None:
    whole = health_of_partitions({"p=1": [MIB] * 20})
    broken = replace(whole, unreadable=(Unreadable("m2", "truncated"),))
    assert decide(whole, ONLY_FILES, NOW_ONLY).planned
    assert [one.code for one in decide(broken, ONLY_FILES, NOW_ONLY).skipped] == [
        SkipCode.NOT_MEASURED
    ]
