"""After conflicts a rewrite is short enough for the writers that won."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.cost import Calibration
from maintainer.domain.health import PartitionKey, TableHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import PlannedAction, RuleHistory, SkipCode
from maintainer.domain.policy import Mode, Policy, Rule, RuleName
from maintainer.domain.rules import RewriteDataFilesRule, RewriteManifestsRule
from maintainer.domain.units import GIB, MIB
from maintainer.estimate.cost import Pace, find_byte_share
from maintainer.procedures.rewrite_data_files.limits import (
    LEAST_WORK_PER_START_UP,
    MOST_FILES,
    Fit,
    JobBounds,
    find_gap,
    find_most_bytes,
    limit_between_commits,
)
from maintainer.procedures.rewrite_data_files.selection import Selection, select_groups
from tests.examples import examples
from tests.samples import NOW, health_of_partitions

FILES = RuleName.REWRITE_DATA_FILES
RULE = RewriteDataFilesRule(cooldown=timedelta(0), hot_partition_age=timedelta(0))
SPEC = PartitionSpec(0, (PartitionField("p", "identity", ("p",), "int"),))
PACE = Pace(20.0, 1 / (64 * MIB))
NOTHING = Calibration()
BUCKETS = {f"p={n}": [4] * (230 + n) for n in range(16)}


def table(
    partitions: dict[str, list[int]], *specs: PartitionSpec, commits: float | None = 30.0
) -> TableHealth:
    """Files of so many MiB by partition, with so many commits an hour."""
    health = health_of_partitions(
        {text: [size * MIB for size in sizes] for text, sizes in partitions.items()}
    )
    return replace(health, specs=specs, commits_per_hour=commits)


def lost(times: int) -> RuleHistory:
    return RuleHistory(FILES, recent_conflicts=times)


def most(
    times: int,
    commits: float | None = 30.0,
    data_bytes: int | None = 10**15,
    last_change_at: datetime | None = None,
) -> int:
    health = replace(
        table({"p=1": [1]}),
        commits_per_hour=commits,
        data_bytes=data_bytes,
        last_change_at=last_change_at,
    )
    return find_most_bytes(health, lost(times), PACE)


def plan(health: TableHealth, times: int = 1, rule: Rule = RULE) -> PlannedAction:
    (planned,) = decide(
        health, Policy(mode=Mode.ENFORCE, rules=(rule,)), Circumstances(NOW, {FILES: lost(times)})
    ).planned
    return planned


def select(
    health: TableHealth,
    times: int,
    rule: RewriteDataFilesRule = RULE,
    too_heavy: frozenset[PartitionKey] = frozenset(),
) -> Selection:
    limit = limit_between_commits(health, lost(times), NOTHING)
    assert limit is not None
    fit = Fit(dict(rule.options), too_heavy)
    return select_groups(rule, health, NOW, JobBounds(fit, rule.hot_partition_age, (limit,)))


def find_files(planned: PlannedAction) -> str | None:
    assert isinstance(planned.action, RewriteDataFiles)
    return dict(planned.action.options).get(MOST_FILES)


# -- how much


def test_a_job_takes_half_the_time_between_commits_and_half_of_that_after_a_conflict() -> None:
    # 4 commits an hour leave 15 minutes: a job of 7.5 has 430 s beside its start-up.
    assert [round(most(times, commits=4.0) / MIB) for times in (1, 2, 3)] == [
        430 * 64,
        205 * 64,
        int(92.5 * 64),
    ]


def test_however_often_writers_commit_a_job_is_not_all_start_up() -> None:
    assert LEAST_WORK_PER_START_UP == 0.5
    assert [
        round(most(times, commits) / MIB)
        for times, commits in ((2, 60.0), (60, 30.0), (1, 10_000.0))
    ] == [640, 640, 640]


def test_however_seldom_writers_commit_a_job_is_no_more_than_its_share_of_the_table() -> None:
    assert [round(most(times, 0.01, 64 * GIB) / GIB) for times in (1, 2, 3)] == [32, 16, 8]
    assert [round(most(times, None, 64 * GIB) / GIB) for times in (1, 2)] == [32, 16], (
        "nothing is known of commits"
    )
    assert [round(most(times, 0.0, 64 * GIB) / GIB) for times in (1, 2)] == [32, 16]
    assert most(1, None, None) // MIB == 640


def test_a_writer_that_has_rested_for_longer_than_it_does_on_average_leaves_more_time() -> None:
    health = table({"p=1": [1]})
    assert find_gap(health) == timedelta(minutes=2)
    assert find_gap(replace(health, last_change_at=NOW - timedelta(minutes=40))) == timedelta(
        minutes=40
    )
    assert find_gap(replace(health, last_change_at=NOW - timedelta(minutes=1))) == timedelta(
        minutes=2
    )
    assert find_gap(replace(health, commits_per_hour=None)) is None
    assert most(1, 30.0, last_change_at=NOW - timedelta(hours=1)) == most(1, 1.0)


@given(st.integers(1, 70), st.floats(0.001, 1000), st.integers(2, 10**15), st.floats(0.1, 600))
@settings(max_examples=examples(100))
def test_conflicts_commits_and_smaller_tables_never_make_a_job_longer(
    times: int, commits: float, data_bytes: int, start: float
) -> None:
    pace = Pace(start, PACE.seconds_per_unit)
    health = replace(table({"p=1": [1]}), commits_per_hour=commits, data_bytes=data_bytes)
    bound = find_most_bytes(health, lost(times), pace)
    assert find_most_bytes(health, lost(times + 1), pace) <= bound
    assert (
        find_most_bytes(replace(health, commits_per_hour=2 * commits), lost(times), pace) <= bound
    )
    assert find_most_bytes(replace(health, data_bytes=data_bytes // 2), lost(times), pace) <= bound
    least = (1 + LEAST_WORK_PER_START_UP) * start
    work = bound / find_byte_share(health)
    assert least * 0.999 - 1 <= pace.seconds(work) <= 1.001 + max(least, 3600 / commits / 2) * 1.001


# -- of what


def test_without_conflicts_and_for_other_rules_nothing_is_bounded() -> None:
    health = table(BUCKETS, SPEC)
    assert limit_between_commits(health, RuleHistory(FILES, recent_overloads=3), NOTHING) is None
    manifests = RewriteManifestsRule(cooldown=timedelta(0))
    many = replace(health, manifests=5_000, data_manifests=5_000)
    policy = Policy(mode=Mode.ENFORCE, rules=(manifests,))
    history = {manifests.name: RuleHistory(manifests.name, recent_conflicts=3)}
    assert decide(many, policy, Circumstances(NOW, history)) == decide(
        many, policy, Circumstances(NOW)
    )
    small = table({"p=1": [1] * 6}, SPEC)
    assert select(small, 3).limit == "", "it is short enough as it is"


def test_a_partitioned_table_is_done_by_partitions_and_the_plan_says_why() -> None:
    wide = {f"p={n}": [4] * 20 for n in range(40)}
    planned = plan(table(wide, SPEC))  # at 8 MB/s, 52 s are 396 MiB
    assert isinstance(planned.action, RewriteDataFiles)
    assert (planned.action.where or "").count("`p` = ") == 4
    assert (planned.estimate.items_before, find_files(planned)) == (80, None)
    assert "4 partitions now, 36 partitions in later jobs" in planned.reason
    said = (
        "; only 320 MiB at once, about 51 s of work, because 1 recent rewrite lost to "
        "writers that leave about 2 min between two commits"
    )
    assert planned.reason.endswith(said)


def test_a_table_without_partitions_is_done_by_files() -> None:
    planned = plan(table({"": [4] * 4000}), 2)  # 10 s of work
    assert isinstance(planned.action, RewriteDataFiles)
    assert (planned.action.where, find_files(planned)) == (None, "41")
    assert (planned.estimate.items_before, planned.estimate.items_after) == (41, 1)
    assert planned.cost is not None
    assert planned.cost.duration_seconds < 31
    said = (
        "; only 41 files of 164 MiB at once, about 30 s of work, because 2 recent rewrites lost "
        "to writers that leave about 2 min between two commits"
    )
    assert planned.reason.endswith(said)
    assert "commits" not in plan(table({"": [4] * 4000}, commits=None)).reason


def test_a_partition_that_is_too_large_by_itself_is_done_by_files() -> None:
    planned = plan(table(BUCKETS, SPEC))
    assert isinstance(planned.action, RewriteDataFiles)
    assert planned.action.where == "(`p` = 15)"
    assert (planned.estimate.items_before, find_files(planned)) == (98, "98")


def test_at_least_as_many_files_as_iceberg_takes_for_a_group_and_two_of_which_one_can_be_made() -> (
    None
):
    health = table({"": [100] * 60})
    assert [
        find_files(plan(health, 6, replace(RULE, options=(("min-input-files", str(least)),))))
        for least in (1, 2, 7)
    ] == ["2", "2", "7"]


def test_few_large_files_are_not_parted() -> None:
    health = table({"": [300] * 4})
    assert select(health, 3) == select_groups(RULE, health, NOW)


def test_what_the_policy_itself_says_of_a_jobs_size_stands() -> None:
    health = table({"": [4] * 4000})
    assert find_files(plan(health, 1, replace(RULE, options=((MOST_FILES, "3000"),)))) == "3000"
    assert find_files(plan(health, 1, replace(RULE, options=((MOST_FILES, "10"),)))) == "10"
    tight = plan(
        table({f"p={n}": [1] * 20 for n in range(40)}, SPEC),
        1,
        replace(RULE, max_bytes_per_job=25 * MIB),
    )
    assert tight.estimate.bytes_rewritten == 20 * MIB


def test_what_waits_for_its_writers_waits_as_before() -> None:
    health = table(BUCKETS, SPEC)
    hot = replace(health, partitions=tuple(replace(p, written_at=NOW) for p in health.partitions))
    usual = replace(RULE, hot_partition_age=RewriteDataFilesRule().hot_partition_age)
    assert select(hot, 1, usual) == select_groups(usual, hot, NOW)
    assert select(hot, 1, usual).code is SkipCode.HOT_PARTITION
    heavy = frozenset((p.spec_id, p.partition) for p in health.partitions)
    assert (select(health, 1, RULE, heavy).code, select(health, 1, RULE, heavy).limit) == (
        SkipCode.UNSAFE,
        "",
    )


def test_where_the_first_files_gain_nothing_the_job_is_as_long_as_it_was() -> None:
    health = table(
        {"p=1": [380] * 2, "p=2": [380] * 2, "p=3": [380] * 2, "p=4": [1] * 6}
    )  # no filter can be written
    health = replace(
        health,
        partitions=tuple(sorted(health.partitions, key=lambda partition: partition.partition)),
    )
    limit = limit_between_commits(health, lost(6), NOTHING)
    assert limit is not None
    assert limit.bytes < 380 * MIB
    planned = plan(health, 6)
    assert (planned.estimate.items_removed, find_files(planned)) == (5, None)
    assert "at once" not in planned.reason


def test_a_few_files_that_the_policy_allows_are_taken_from_the_best_partitions() -> None:
    health = table({f"p={n}": [4] * 20 for n in range(40)}, SPEC)
    few = replace(RULE, options=((MOST_FILES, "10"),))
    assert select_groups(few, health, NOW).where is None
    assert (select(health, 1, few).where or "").count("`p` = ") == 4


def test_what_the_policys_own_limit_makes_short_enough_is_no_work_of_the_writers() -> None:
    health = table({f"p={n}": [1] * 20 for n in range(40)}, SPEC)
    assert "writers" not in plan(health, 1, replace(RULE, max_bytes_per_job=25 * MIB)).reason
