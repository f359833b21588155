from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.jobs.safeguards import (
    MAX_DROPPED_TAGS,
    choose_safeguards,
    find_lapsed_tags,
    take_baseline,
)
from maintainer.domain.action import (
    Action,
    Canary,
    Checksum,
    ExpireSnapshots,
    Repair,
    RewriteDataFiles,
    RewriteManifests,
    RollBack,
    Safeguards,
)
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec, Ref
from maintainer.domain.job import Job
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.domain.units import GIB, MIB
from maintainer.measure.health import measure
from tests.samples import (
    NOW,
    TABLE,
    UUID,
    health_of_partitions,
    inventory,
    snapshot,
    with_history,
)

ALL = Safeguards(timedelta(days=1), Canary.SAMPLE, Checksum.FULL)
SAMPLE = replace(ALL, checksum=Checksum.SAMPLE)
BY_DAY = PartitionSpec(0, (PartitionField("day", "identity", ("day",), "string"),))


def job_of(action: Action, rewritten: int = 0) -> Job:
    return Job(
        "m-1",
        TABLE,
        UUID,
        RuleName(action.procedure.value),
        action,
        (),
        Estimate(1, 1, 0, rewritten),
        "",
        "v",
        50,
        "policy",
        NOW,
    )


def large(partitions: dict[str, list[int]]) -> TableHealth:
    return replace(health_of_partitions(partitions), specs=(BY_DAY,))


def test_only_rewrites_are_surrounded() -> None:
    small = health_of_partitions({"day=1": [MIB]})
    assert choose_safeguards(job_of(RewriteManifests(0)), ALL, small) == ALL
    assert choose_safeguards(job_of(ExpireSnapshots(NOW, 10)), ALL, small) == Safeguards()
    repair = replace(
        job_of(RewriteManifests(0)), rule=Repair.ROLL_BACK, action=RollBack(1, "m-0", 2)
    )
    assert choose_safeguards(repair, ALL, small) == Safeguards()


def test_a_small_table_is_its_own_sample() -> None:
    assert (
        choose_safeguards(
            job_of(RewriteDataFiles()), SAMPLE, health_of_partitions({"day=1": [GIB]})
        )
        == SAMPLE
    )


def test_a_job_of_a_small_scope_compares_all_of_its_scope() -> None:
    assert (
        choose_safeguards(
            job_of(RewriteDataFiles(where="day = '1'"), rewritten=MIB),
            SAMPLE,
            large({"day=1": [3 * GIB]}),
        )
        == SAMPLE
    )


def test_of_a_large_table_the_partitions_with_the_most_small_files_are_compared_up_to_a_bound() -> (
    None
):
    health = large(
        {
            "day=1": [400 * MIB, 3 * MIB, 3 * MIB],
            "day=2": [700 * MIB, 3 * MIB],
            "day=3": [200 * MIB],
            "day=4": [9 * GIB],
        }
    )
    assert (
        choose_safeguards(job_of(RewriteDataFiles()), SAMPLE, health).checksum_where
        == "(`day` = '1') OR (`day` = '3')"
    )
    scoped = choose_safeguards(
        job_of(RewriteDataFiles(where="day > 0"), rewritten=2 * GIB), SAMPLE, health
    )
    assert scoped.checksum_where == "(day > 0) AND ((`day` = '1') OR (`day` = '3'))"


@pytest.mark.parametrize(
    "health", [large({"day=1": [2 * GIB]}), health_of_partitions({"": [GIB, GIB]})]
)
def test_where_no_sample_can_be_had_within_the_bound_there_is_none(health: TableHealth) -> None:
    assert choose_safeguards(job_of(RewriteDataFiles()), SAMPLE, health) == replace(
        ALL, checksum=Checksum.OFF
    )


def test_tags_of_ours_whose_age_is_over_are_to_be_dropped_and_nobody_elses() -> None:
    hour = int(timedelta(hours=1).total_seconds() * 1000)
    refs = (
        Ref("main", 2, is_branch=True),
        Ref("maintainer-before-m-1", 1, is_branch=False, max_ref_age_ms=hour),
        Ref("maintainer-before-m-2", 1, is_branch=False, max_ref_age_ms=100 * hour),
        Ref("maintainer-before-m-3", 1, is_branch=True, max_ref_age_ms=hour),
        Ref("maintainer-pin-replica", 1, is_branch=False, max_ref_age_ms=hour),
        Ref("release", 1, is_branch=False, max_ref_age_ms=hour),
    )
    health = replace(
        with_history(health_of_partitions({}), [timedelta(hours=2), timedelta(0)]), refs=refs
    )
    assert find_lapsed_tags(health, NOW) == ("maintainer-before-m-1",)
    many = tuple(
        Ref(f"maintainer-before-m-{n}", 1, is_branch=False, max_ref_age_ms=hour) for n in range(50)
    )
    assert len(find_lapsed_tags(replace(health, refs=many), NOW)) == MAX_DROPPED_TAGS


def test_the_baseline_has_what_the_proof_compares_with() -> None:
    lake = inventory(snapshots=(snapshot(1, 2 * timedelta(hours=1)), snapshot(7, timedelta(0), 1)))
    baseline = take_baseline(lake, measure(lake))
    assert (baseline.snapshot_id, baseline.sequence_number, baseline.snapshot_at) == (7, 7, NOW)
    assert baseline.metadata_location == lake.metadata_location
    empty = inventory(snapshots=())
    baseline = take_baseline(empty, measure(empty))
    assert (baseline.snapshot_id, baseline.sequence_number, baseline.snapshot_at) == (None, 0, None)
