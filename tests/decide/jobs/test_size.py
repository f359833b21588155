from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.jobs.size import SizeChoice, choose_size, spread_groups
from maintainer.decide.plan import decide
from maintainer.domain.action import RewriteDataFiles, RewriteManifests, RewritePositionDeleteFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate, FailureStreak, RuleHistory
from maintainer.domain.policy import Mode, Policy, Rule
from maintainer.domain.pool import JobSize, SizeProfile
from maintainer.domain.rules import (
    ComputePartitionStatsRule,
    ExpireSnapshotsRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.procedures.rewrite_data_files.limits import GROUPS_AT_ONCE
from tests.samples import NOW, health_of_partitions

SMALL, MEDIUM, LARGE = (
    SizeProfile(size, memory_gb) for size, memory_gb in zip(JobSize, (1.0, 4.0, 16.0), strict=True)
)
REWRITE = RewriteDataFilesRule()


def make_health(data_files: int) -> TableHealth:
    return replace(health_of_partitions({"day=1": [1000] * 10}), data_files=data_files)


def choose(
    health: TableHealth,
    rule: Rule = REWRITE,
    policy: Policy | None = None,
    failures: FailureStreak | None = None,
) -> SizeChoice:
    history = {rule.name: RuleHistory(rule.name, streak=failures)}
    circumstances = Circumstances(NOW, history, profiles=(LARGE, SMALL, MEDIUM), tasks_at_once=2)
    return choose_size(rule, health, policy or Policy(), circumstances)


def out_of_memory(times: int, reason: str = "out_of_memory") -> FailureStreak:
    return FailureStreak(reason, times, NOW - timedelta(hours=1))


@pytest.mark.parametrize(
    ("partitions", "tasks", "options", "groups"),
    [
        (40, 16, (), "16"),
        (9, 16, (), "9"),
        (400, 200, (), "64"),
        (40, 5, (), None),
        (5, 16, (), None),
        (40, 16, ((GROUPS_AT_ONCE, "2"),), "2"),
    ],
    ids=[
        "a_group_a_task",
        "a_task_a_group",
        "bounded",
        "no_more_tasks_than_icebergs_own",
        "no_more_groups",
        "the_policy_says",
    ],
)
def test_as_many_groups_are_at_work_as_there_are_tasks_for_them(
    partitions: int, tasks: int, options: tuple[tuple[str, str], ...], groups: str | None
) -> None:
    estimate = Estimate(100, 40, 60, 1, partitions)
    for action in (RewriteDataFiles(options=options), RewritePositionDeleteFiles(options=options)):
        spread = spread_groups(action, estimate, tasks)
        assert isinstance(spread, RewriteDataFiles | RewritePositionDeleteFiles)
        assert dict(spread.options).get(GROUPS_AT_ONCE) == groups
    assert spread_groups(RewriteManifests(0), estimate, tasks) == RewriteManifests(0)


def test_a_plan_spreads_its_rewrite_over_the_tasks_of_spark() -> None:
    health = health_of_partitions({f"day={day}": [1000] * 10 for day in range(8)})
    policy = Policy(mode=Mode.ENFORCE, rules=(REWRITE,))
    (planned,) = decide(health, policy, Circumstances(NOW, tasks_at_once=7)).planned
    assert isinstance(planned.action, RewriteDataFiles)
    assert dict(planned.action.options)[GROUPS_AT_ONCE] == "7"


def test_a_job_is_as_small_as_what_it_keeps_in_memory_allows_and_says_so() -> None:
    chosen = choose(make_health(data_files=60))
    assert chosen.profile == SMALL
    assert (
        chosen.reason
        == "about 240 KiB of memory is needed, of the 409.6 MiB that a small job has for it"
    )


@pytest.mark.parametrize(
    ("files", "size"), [(100_000, SMALL), (110_000, MEDIUM), (500_000, LARGE), (50_000_000, LARGE)]
)
def test_many_files_need_a_larger_job_and_the_largest_has_to_do(
    files: int, size: SizeProfile
) -> None:
    assert choose(make_health(data_files=files)).profile == size


@pytest.mark.parametrize(
    ("rule", "changes", "size"),
    [
        (REWRITE, {}, SMALL),
        (replace(REWRITE, strategy="sort"), {}, MEDIUM),
        (REWRITE, {"position_delete_bytes": 400_000_000}, MEDIUM),
        (
            RewritePositionDeleteFilesRule(),
            {"position_delete_bytes": 400_000_000},
            MEDIUM,
        ),
        (ExpireSnapshotsRule(), {"position_delete_bytes": 400_000_000}, SMALL),
        (REWRITE, {"equality_delete_records": 5_000_000}, MEDIUM),
        (RewriteManifestsRule(), {"equality_delete_records": 10_000_000}, SMALL),
    ],
)
def test_deletes_and_sorting_count_where_they_are_held(
    rule: Rule, changes: dict[str, object], size: SizeProfile
) -> None:
    health = make_health(data_files=10)
    heavy = replace(health.partitions[0], data_bytes=10_000_000_000, **changes)  # type: ignore[arg-type]
    assert choose(replace(health, partitions=(heavy,)), rule).profile == size


ON_A_CLUSTER = (SizeProfile(JobSize.SMALL, 3.0, 2.0), SizeProfile(JobSize.MEDIUM, 10.0, 8.0))


@pytest.mark.parametrize(
    ("files", "partition_bytes", "size"),
    [(10, 0, "small"), (10, 10_000_000_000, "medium"), (110_000, 0, "medium")],
)
def test_on_a_cluster_what_tasks_keep_must_fit_the_executors_and_the_rest_the_driver(
    files: int, partition_bytes: int, size: str
) -> None:
    health = make_health(data_files=files)
    health = replace(
        health, partitions=(replace(health.partitions[0], data_bytes=partition_bytes),)
    )
    chosen = choose_size(
        replace(REWRITE, strategy="sort"),
        health,
        Policy(),
        Circumstances(NOW, profiles=ON_A_CLUSTER),
    )
    assert chosen.profile.size == size


def test_on_a_cluster_the_reason_tells_both_memories() -> None:
    chosen = choose_size(
        REWRITE, make_health(data_files=60), Policy(), Circumstances(NOW, profiles=ON_A_CLUSTER)
    )
    assert chosen.reason == (
        "about 240 KiB of 409.6 MiB of memory is needed in the driver and 0 B of 819.2 MiB "
        "in the executors, as a small job has them"
    )


def test_manifests_count_where_their_entries_are_read() -> None:
    health = replace(make_health(data_files=10), manifest_bytes=100_000_000)
    assert choose(health, RewriteManifestsRule()).profile == MEDIUM
    assert choose(health, ComputePartitionStatsRule()).profile == MEDIUM
    assert choose(health).profile == SMALL


@pytest.mark.parametrize(
    ("least", "most", "files", "size"),
    [
        (JobSize.MEDIUM, JobSize.LARGE, 10, MEDIUM),
        (JobSize.SMALL, JobSize.MEDIUM, 50_000_000, MEDIUM),
        (JobSize.LARGE, JobSize.SMALL, 10, LARGE),
    ],
)
def test_the_policy_bounds_it_and_the_lower_bound_wins(
    least: JobSize, most: JobSize, files: int, size: SizeProfile
) -> None:
    assert (
        choose(make_health(data_files=files), policy=Policy(min_size=least, max_size=most)).profile
        == size
    )


def test_each_want_of_memory_in_a_row_asks_for_the_next_larger_one() -> None:
    health = make_health(data_files=60)
    once, thrice = (
        choose(health, failures=out_of_memory(1)),
        choose(health, failures=out_of_memory(3)),
    )
    assert (once.profile, thrice.profile) == (MEDIUM, LARGE)
    assert once.reason.endswith("; it ran out of memory 1 time in a row")
    assert thrice.reason.endswith("3 times in a row")
    assert choose(health, failures=out_of_memory(2, "conflict")).profile == SMALL


def test_without_profiles_every_job_is_small() -> None:
    chosen = choose_size(
        REWRITE, make_health(data_files=50_000_000), Policy(), Circumstances(NOW, memory_gb=3.0)
    )
    assert chosen.profile == SizeProfile(JobSize.SMALL, 3.0)
