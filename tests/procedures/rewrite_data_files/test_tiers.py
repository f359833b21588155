"""Bytes rewritten for each byte written, on streams that the planner's own choices rewrite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.file_sizes import DeletedFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import SkipCode
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import MIB
from maintainer.procedures.procedure import Gain
from maintainer.procedures.rewrite_data_files.tiers import COLD_AGE, MOST_TIERS, find_bounds
from tests.chapters import find_gain
from tests.samples import NOW, health_of_partitions

RULE = RewriteDataFilesRule(
    cooldown=timedelta(0), hot_partition_age=timedelta(0), max_rewrites_per_byte=4
)
WITHOUT = replace(RULE, max_rewrites_per_byte=None)
TARGET = 512 * MIB
SPEC = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "int"),))
HOUR = timedelta(hours=1)


def table(partitions: dict[str, list[int]], age: timedelta = timedelta(0)) -> TableHealth:
    """Partitions with files of these bytes, written to so long ago."""
    health = health_of_partitions(partitions, TARGET)
    return replace(
        health,
        specs=(SPEC,),
        last_write_at=NOW - age,
        partitions=tuple(replace(p, written_at=NOW - age) for p in health.partitions),
    )


def mib(*sizes: int) -> list[int]:
    return [size * MIB for size in sizes]


def gain_of(health: TableHealth, rule: RewriteDataFilesRule = RULE) -> Gain:
    gain = find_gain(rule, health)
    assert gain is not None
    return gain


def action_of(gain: Gain) -> RewriteDataFiles:
    assert isinstance(gain.action, RewriteDataFiles)
    return gain.action


def bound_of(gain: Gain) -> int:
    """The size below which Iceberg takes files, by the options of the statement."""
    options = dict(action_of(gain).options)
    return int(options.get("min-file-size-bytes", TARGET * 3 // 4))


@dataclass
class Played:
    """A stream after its last hour: what was written and rewritten, and the most files."""

    written: int = 0
    rewritten: int = 0
    most_files: int = 0
    most_rewrites: int = 0  # of one byte


def play(rule: RewriteDataFilesRule, stream: Iterable[list[int]]) -> Played:
    """Write these files in each hour, and then carry out the statement as Iceberg would."""
    played = Played()
    files: list[tuple[int, int]] = []  # bytes, and how often the oldest byte was rewritten
    for new in stream:
        files += [(size, 0) for size in new]
        played.written += sum(new)
        played.most_files = max(played.most_files, sum(size < TARGET // 2 for size, _ in files))
        gain = gain_of(table({"": [size for size, _ in files]}), rule)
        if not gain.is_worthwhile:
            continue
        below = bound_of(gain)
        taken = [one for one in files if one[0] < below]
        assert (len(taken), sum(size for size, _ in taken)) == (
            gain.estimate.items_before,
            gain.estimate.bytes_rewritten,
        )
        size, outputs = gain.estimate.bytes_rewritten, gain.estimate.items_after
        often = 1 + max(count for _, count in taken)
        files = [one for one in files if one[0] >= below]
        files += [
            (size * (at + 1) // outputs - size * at // outputs, often) for at in range(outputs)
        ]
        played.rewritten += size
        played.most_rewrites = max(played.most_rewrites, often)
    return played


MONTH = 30 * 24


def test_a_slow_stream_is_rewritten_about_twice_and_not_eight_times() -> None:
    before, after = (play(rule, [mib(6)] * MONTH) for rule in (WITHOUT, RULE))
    assert before.rewritten > 8 * before.written
    assert after.rewritten < 2.2 * after.written
    assert after.most_rewrites <= 2
    assert after.most_files <= 24


@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_no_byte_of_a_stream_is_rewritten_more_often_than_the_policy_says(most: int) -> None:
    played = play(replace(RULE, max_rewrites_per_byte=most), [mib(5, 3, 1)] * 240)
    assert 1 <= played.most_rewrites <= most


@given(
    st.integers(1, 5),
    # In each hour more than what is rewritten without a wait.
    st.lists(st.lists(st.integers(9, 90), min_size=1, max_size=8), min_size=20, max_size=40),
)
def test_no_byte_of_any_stream_is_rewritten_more_often(most: int, stream: list[list[int]]) -> None:
    hours = [mib(*sizes) for sizes in stream]
    assert play(replace(RULE, max_rewrites_per_byte=most), hours).most_rewrites <= most


def test_the_plan_says_what_waits_until_there_are_how_many() -> None:
    gain = gain_of(table({"": mib(*[1] * 60, *[60] * 5)}))
    assert bound_of(gain) == 48 * MIB
    assert (gain.estimate.items_before, gain.estimate.items_after) == (60, 1)
    assert gain.sentence == (
        "60 files in 1 group would become 1; 5 files of about 60 MiB wait until there are 7"
    )


def test_where_nothing_has_gathered_the_rule_waits_until_the_table_is_cold() -> None:
    gain = gain_of(table({"": mib(*[60] * 5)}, age=HOUR))
    assert (gain.is_worthwhile, gain.code) == (False, SkipCode.NOTHING_TO_GAIN)
    assert gain.sentence == "5 files of about 60 MiB wait until there are 7"
    assert gain.next_at == NOW + COLD_AGE - HOUR


def test_a_cold_table_gets_one_full_merge() -> None:
    gain = gain_of(table({"": mib(*[1] * 20, *[60] * 5)}, age=COLD_AGE))
    assert bound_of(gain) == 384 * MIB
    assert (gain.estimate.items_before, gain.estimate.items_after) == (25, 1)
    assert not gain_of(table({"": mib(320)}, age=COLD_AGE)).is_worthwhile


def test_of_several_partitions_the_plan_says_how_many_files_wait() -> None:
    gain = gain_of(table({"p=1": mib(*[7] * 5), "p=2": mib(*[7] * 6)}))
    assert gain.sentence == "11 files of about 7 MiB in 2 partitions wait until there are more"


def test_files_that_have_gathered_skip_the_tiers_between() -> None:
    assert bound_of(gain_of(table({"": mib(*[1] * 60, *[60] * 6)}))) == 384 * MIB


def test_a_table_is_merged_without_a_wait_if_that_takes_seconds() -> None:
    assert gain_of(table({"": mib(1, 1, 1, 1, 1)})).is_worthwhile
    assert not gain_of(table({"": mib(7, 7, 7, 7, 7)})).is_worthwhile


def test_a_partition_that_waits_is_left_out_by_a_filter() -> None:
    gain = gain_of(table({"p=1": mib(*[5] * 10), "p=2": mib(*[7] * 5)}))
    assert bound_of(gain) == 48 * MIB
    assert action_of(gain).where == "(`p` = 1)"
    assert gain.sentence == (
        "10 files in 1 group would become 1; 5 files of about 7 MiB wait until there are 7; "
        "1 partition now"
    )


def test_the_bound_with_the_most_gain_per_byte_comes_first() -> None:
    gain = gain_of(table({"p=1": mib(*[70] * 6), "p=2": mib(*[1] * 60)}))
    assert (bound_of(gain), action_of(gain).where) == (48 * MIB, None)


def test_a_partition_with_a_larger_bound_comes_in_a_later_job() -> None:
    gain = gain_of(table({"p=1": mib(*[40] * 10), "p=2": mib(*[1] * 60)}))
    assert (bound_of(gain), action_of(gain).where) == (48 * MIB, "(`p` = 2)")


def test_a_hot_partition_decides_no_bound() -> None:
    health = table({"p=1": mib(*[1] * 60), "p=2": mib(*[70] * 6)}, age=HOUR)
    hot, rest = health.partitions
    health = replace(health, partitions=(replace(hot, written_at=NOW), rest))
    gain = gain_of(health, replace(RULE, hot_partition_age=timedelta(minutes=15)))
    assert (bound_of(gain), action_of(gain).where) == (384 * MIB, "(`p` = 2)")


def test_deletes_are_applied_without_a_wait_and_with_few_other_files() -> None:
    health = table({"": mib(400, *[60] * 5)})
    deleted = DeletedFiles(1, 400 * MIB, 400 * MIB, 400 * MIB, 0.5, 0.5, 1)
    health = replace(health, partitions=(replace(health.partitions[0], deleted=(deleted,)),))
    gain = gain_of(health)
    assert bound_of(gain) == 3 * MIB // 4
    assert (gain.estimate.items_before, gain.estimate.files_with_deletes) == (1, 1)
    assert "5 files of about 60 MiB wait until there are 7" in gain.sentence


@pytest.mark.parametrize("option", ["min-file-size-bytes", "rewrite-all"])
def test_the_policys_own_options_decide_alone(option: str) -> None:
    value = "true" if option == "rewrite-all" else str(100 * MIB)
    rule = replace(RULE, options=((option, value),))
    gain = gain_of(table({"": mib(*[60] * 5)}), rule)
    assert gain.is_worthwhile
    assert dict(action_of(gain).options)[option] == value


def test_without_a_filter_that_leaves_out_what_waits_the_rule_waits() -> None:
    health = table({"p=1": mib(*[5] * 10), "p=2": mib(*[7] * 5)})
    gain = gain_of(replace(health, specs=()))
    assert (gain.is_worthwhile, gain.code) == (False, SkipCode.NOTHING_TO_GAIN)
    assert gain.sentence == "5 files of about 7 MiB wait until there are 7"
    mixed = table({"p=1": mib(*[40] * 10), "p=2": mib(*[1] * 60)})
    assert gain_of(replace(mixed, specs=())).sentence == (
        "no filter can be written that leaves out 1 partition for a later job"
    )


def test_the_bounds_are_spread_evenly_and_never_too_many() -> None:
    assert find_bounds(384, 1) == (384,)
    assert find_bounds(384 * MIB, 4) == (384 * MIB, 48 * MIB, 6 * MIB, 3 * MIB // 4)
    assert len(find_bounds(384 * MIB, 1000)) == MOST_TIERS
    assert find_bounds(10, 4)[-1] == 1


def test_a_partition_that_is_cold_gets_its_full_merge_before_a_stream_that_is_always_ripe() -> None:
    health = table({"p=1": mib(60, 60, 60, 60, 60), "p=2": mib(1, 1, 1, 1, 1, 1)})
    assert bound_of(gain_of(health)) < 60 * MIB, "the stream gains more per byte"
    old = NOW - 2 * COLD_AGE
    cold = replace(
        health,
        partitions=tuple(
            replace(p, written_at=old) if p.partition == "p=1" else p for p in health.partitions
        ),
    )
    gain = gain_of(cold)
    assert bound_of(gain) == TARGET * 3 // 4
    assert action_of(gain).where == "(`p` = 1)"


def test_a_partition_whose_turn_does_not_come_is_merged_when_it_has_gathered_enough() -> None:
    stream = mib(1, 1, 1, 1, 1, 1)
    taken = {
        count: bound_of(gain_of(table({"p=1": mib(*[12] * count), "p=2": stream}))) > 12 * MIB
        for count in (5, 8, 16, 31)
    }
    assert taken == {5: False, 8: False, 16: True, 31: True}
