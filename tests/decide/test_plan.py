from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.decide.circumstances import Circumstances, digest_state
from maintainer.decide.explanation import explain
from maintainer.decide.plan import decide, on_request
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.health import ManifestGroup, TableHealth
from maintainer.domain.inventory import ManifestContent, Ref, Unreadable
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.plan import (
    Plan,
    PlannedAction,
    RuleHistory,
    SkipCode,
    SkippedRule,
    name_state,
)
from maintainer.domain.policy import Mode, Policy, Rule, RuleName, Window
from maintainer.domain.rules import (
    RULES,
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
)
from maintainer.domain.units import MIB
from maintainer.policy.windows import is_blacked_out, is_open
from tests.samples import NOW, health_of_partitions, with_history

DAY = timedelta(days=1)
AVERAGE = Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, 32 * MIB)
FILES = RewriteDataFilesRule(when=(AVERAGE,))
MANIFESTS = RewriteManifestsRule(when=(Threshold(Metric.MANIFEST_COUNT, 100),))
EXPIRY = ExpireSnapshotsRule(
    when=(Threshold(Metric.SNAPSHOT_COUNT, 100),),
    max_age=5 * DAY,
    keep=10,
)
ENFORCED = Policy(mode=Mode.ENFORCE, rules=(EXPIRY, MANIFESTS, FILES), version="v1")
ROTTEN = replace(
    with_history(
        health_of_partitions({f"hour={h}": [1000] * 60 for h in range(10)}),
        [timedelta(hours=200 - i) for i in range(200)],
    ),
    manifests=300,
    manifest_groups=(ManifestGroup(0, ManifestContent.DATA, 300, 2_400_000),),
)
QUIET = Circumstances(NOW)


def skip_of(plan: Plan, rule: RuleName = RuleName.REWRITE_DATA_FILES) -> SkippedRule:
    return next(skipped for skipped in plan.skipped if skipped.rule is rule)


def only(rule: Rule, **changes: object) -> Policy:
    return replace(ENFORCED, rules=(rule,), **changes)  # type: ignore[arg-type]


def test_a_rotten_table_gets_all_three_procedures_in_the_fixed_order() -> None:
    plan = decide(ROTTEN, ENFORCED, QUIET)
    assert [planned.rule for planned in plan.planned] == [
        RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_MANIFESTS,
        RuleName.EXPIRE_SNAPSHOTS,
    ]
    files, manifests, expiry = plan.planned
    assert isinstance(files.action, RewriteDataFiles)
    assert files.action.options == (("partial-progress.enabled", "false"),), (
        "the target is the table's own, and a small rewrite commits once"
    )
    assert files.estimate.items_removed == 590
    assert files.reason == (
        "average file size 1000 B, threshold below 32 MiB; 600 files in 10 groups would become 10"
    )
    assert manifests.action == RewriteManifests(0)
    assert (
        manifests.reason
        == "manifests 300, threshold above 100; 300 manifests of spec 0 would become 1"
    )
    assert expiry.action == ExpireSnapshots(NOW - 5 * DAY, 10)
    assert expiry.reason.endswith("80 of 200 snapshots are older than 5 d and beyond the newest 10")
    assert plan.skipped == ()


def test_where_spark_cannot_reach_the_catalog_every_rule_says_why_on_request_too() -> None:
    reason = "catalog lake: property s3.anonymous cannot be translated for Spark"
    off = replace(ENFORCED, rules=(replace(FILES, is_enabled=False), MANIFESTS, EXPIRY))
    for policy in (off, replace(off, mode=Mode.OBSERVE)):
        plan = decide(ROTTEN, policy, replace(QUIET, no_runner=reason))
        assert plan.planned == ()
        assert [(skip.code, skip.reason) for skip in plan.skipped][1:] == [
            (SkipCode.NO_RUNNER, reason)
        ] * 2
        assert skip_of(plan).code is SkipCode.DISABLED
    asked = decide(
        ROTTEN, on_request(ENFORCED, ()), replace(QUIET, no_runner=reason, is_requested=True)
    )
    assert {skip.code for skip in asked.skipped} == {SkipCode.NO_RUNNER}
    assert asked.planned == ()


def test_a_healthy_table_is_left_alone_with_the_threshold_in_words() -> None:
    plan = decide(health_of_partitions({"day=1": [500 * MIB]}), ENFORCED, QUIET)
    assert plan.planned == ()
    skipped = skip_of(plan)
    assert skipped.code is SkipCode.BELOW_THRESHOLD
    assert skipped.reason == "average file size 500 MiB, threshold below 32 MiB"


def test_four_small_files_in_each_partition_are_left_alone_and_say_why() -> None:
    plan = decide(
        health_of_partitions({f"day={d}": [1000] * 4 for d in range(50)}), ENFORCED, QUIET
    )
    skipped = skip_of(plan)
    assert skipped.code is SkipCode.NOTHING_TO_GAIN
    assert skipped.findings[0].metric == "average_file_size_bytes"
    assert skipped.reason == (
        "200 small files are in 50 partitions, at most 4 in one; a rewrite selects a partition "
        "with at least 5 of them or more bytes than the target of 512 MiB"
    )


def test_large_files_alone_are_no_reason_either() -> None:
    always = replace(FILES, when=())
    assert (
        skip_of(decide(health_of_partitions({"a": [500 * MIB]}), only(always), QUIET)).reason
        == "no partition has a file that a rewrite would select"
    )


def test_all_thresholds_of_a_rule_must_hold() -> None:
    both = replace(FILES, when=(AVERAGE, Threshold(Metric.SMALL_FILE_COUNT, 1000)))
    skipped = skip_of(decide(ROTTEN, only(both), QUIET))
    assert skipped.code is SkipCode.BELOW_THRESHOLD
    assert skipped.reason == "small files 600, threshold above 1,000"
    assert [finding.metric for finding in skipped.findings] == ["average_file_size_bytes"]


def test_what_was_not_measured_is_neither_above_nor_below() -> None:
    skipped = skip_of(decide(replace(ROTTEN, average_file_size_bytes=None), only(FILES), QUIET))
    assert (skipped.code, skipped.reason) == (
        SkipCode.NOT_MEASURED,
        "not measured: average_file_size_bytes",
    )


def test_a_table_with_unreadable_metadata_is_not_touched() -> None:
    broken = replace(ROTTEN, unreadable=(Unreadable("m7.avro", "truncated"),))
    plan = decide(broken, ENFORCED, QUIET)
    assert not plan.planned
    assert {skipped.code for skipped in plan.skipped} == {SkipCode.NOT_MEASURED}
    assert "m7.avro cannot be read: truncated" in plan.skipped[0].reason


def test_a_changed_target_waits_for_a_measurement_against_it() -> None:
    skipped = skip_of(decide(ROTTEN, only(FILES, target_file_size_bytes=128 * MIB), QUIET))
    assert skipped.code is SkipCode.NOT_MEASURED
    assert skipped.reason == (
        "measured with a target file size of 512 MiB, but the policy now sets 128 MiB: the "
        "next scan measures again"
    )
    option = replace(FILES, options=(("target-file-size-bytes", str(512 * MIB)),))
    assert decide(ROTTEN, only(option, target_file_size_bytes=128 * MIB), QUIET).planned


@pytest.mark.parametrize(
    ("rule", "properties", "code", "words"),
    [
        (EXPIRY, {"gc.enabled": "false"}, SkipCode.GC_DISABLED, "gc.enabled=false"),
        (
            EXPIRY,
            {"snapshot": "True"},
            SkipCode.UNSAFE,
            "snapshot=true: it was made from another table, whose files expiry would delete",
        ),
        (
            replace(EXPIRY, max_age=timedelta(hours=3)),
            {},
            SkipCode.RETENTION_FLOOR,
            "max_age 3 h is under the 1 d floor of expire_snapshots",
        ),
        (
            replace(EXPIRY, keep=1),
            {},
            SkipCode.RETENTION_FLOOR,
            "keep 1 is under the floor of 2 snapshots",
        ),
        (
            RemoveOrphanFilesRule(),
            {},
            SkipCode.UNSAFE,
            "not every table of every catalog has been measured",
        ),
        (replace(FILES, is_enabled=False), {}, SkipCode.DISABLED, "switches this rule off"),
    ],
)
def test_guards_refuse_with_their_reason(
    rule: Rule, properties: dict[str, str], code: SkipCode, words: str
) -> None:
    skipped = skip_of(decide(replace(ROTTEN, properties=properties), only(rule), QUIET), rule.name)
    assert skipped.code is code
    assert words in skipped.reason


def test_gc_disabled_does_not_hold_back_rewriting() -> None:
    plan = decide(replace(ROTTEN, properties={"gc.enabled": "false"}), ENFORCED, QUIET)
    assert [planned.rule for planned in plan.planned] == [
        RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_MANIFESTS,
    ]


def test_an_unknown_format_version_is_not_touched() -> None:
    assert {s.code for s in decide(replace(ROTTEN, format_version=4), ENFORCED, QUIET).skipped} == {
        SkipCode.UNSUPPORTED
    }


def test_observe_mode_shows_what_enforce_mode_would_do() -> None:
    plan = decide(ROTTEN, replace(ENFORCED, mode=Mode.OBSERVE), QUIET)
    assert plan.planned == ()
    assert {skipped.code for skipped in plan.skipped} == {SkipCode.OBSERVE_ONLY}
    assert all(
        skipped.would_do is not None and skipped.estimate is not None for skipped in plan.skipped
    )
    assert skip_of(plan).reason == (
        "the policy is in observe mode; enforce mode would start it, because 600 files in 10 "
        "groups would become 10"
    )
    said = explain(skip_of(plan))
    assert said.startswith(
        "Compacting data files is due but does not start: the policy is in observe mode; enforce "
        "mode would start it, because 600 files in 10 groups would become 10; "
    )
    assert said.count("observe mode") == 1


def held(circumstances: Circumstances, rule: Rule = FILES, **changes: object) -> SkippedRule:
    return skip_of(decide(ROTTEN, only(rule, **changes), circumstances), rule.name)


def test_one_job_a_table_and_a_pause_hold_back() -> None:
    assert held(Circumstances(NOW, in_flight="m-7")).code is SkipCode.IN_FLIGHT
    paused = held(Circumstances(NOW, paused_by="ada"))
    assert (paused.code, paused.reason) == (SkipCode.PAUSED, "ada paused this table")


def history(**fields: object) -> Circumstances:
    return Circumstances(NOW, {FILES.name: RuleHistory(FILES.name, **fields)})  # type: ignore[arg-type]


def test_a_success_cools_down_and_says_until_when() -> None:
    skipped = held(history(last_success_at=NOW - timedelta(hours=2)))
    assert (skipped.code, skipped.next_at) == (SkipCode.COOLING_DOWN, NOW + timedelta(hours=4))
    assert skipped.reason == "last run at 2026-03-04 10:00 UTC, at most every 6 h"
    assert decide(ROTTEN, only(FILES), history(last_success_at=NOW - timedelta(hours=6))).planned
    assert held(
        history(last_success_at=NOW - timedelta(hours=6)), replace(FILES, every=DAY)
    ).next_at == NOW + timedelta(hours=18)


def test_failures_back_off_doubling() -> None:
    third = held(
        history(
            last_failure_at=NOW - timedelta(hours=1),
            consecutive_failures=3,
            last_failure_reason="conflict",
        )
    )
    assert (third.code, third.next_at) == (SkipCode.COOLING_DOWN, NOW + timedelta(hours=3))
    assert third.reason == (
        "failed 3 times in a row (conflict), last at 2026-03-04 11:00 UTC; tried again with less "
        "work in one job; next at 2026-03-04 15:00 UTC"
    )
    assert (
        "failed once"
        in held(
            history(last_failure_at=NOW, consecutive_failures=1, last_failure_reason="conflict")
        ).reason
    )
    assert decide(
        ROTTEN,
        only(FILES),
        history(last_failure_at=NOW - timedelta(hours=2), consecutive_failures=1),
    ).planned


def test_a_filter_that_names_the_current_time_may_select_other_files_later() -> None:
    assert name_state("s", "v", RewriteDataFiles(where="day < current_date")) is None
    assert name_state("s", "v", RewriteDataFiles(where="day = 'now'")) is None
    assert name_state("s", "v", RewriteDataFiles(where="a = 1")) is not None


def test_the_same_table_with_other_work_is_no_repetition() -> None:
    other = RewriteDataFiles(where="p = 1")
    found = history(idle_at_state=name_state(digest_state(ROTTEN), ENFORCED.version, other))
    assert decide(ROTTEN, only(FILES), found).planned


def test_a_run_that_changed_nothing_is_not_repeated_until_the_table_changes() -> None:
    (planned,) = decide(ROTTEN, only(FILES), Circumstances(NOW)).planned
    found = history(
        idle_at_state=name_state(digest_state(ROTTEN), ENFORCED.version, planned.action)
    )
    idle = held(found)
    assert idle.code is SkipCode.NOTHING_TO_GAIN
    assert idle.reason == (
        "the last run did the same and changed nothing, and the table has not changed since"
    )
    tagged = replace(
        ROTTEN,
        refs=(*ROTTEN.refs, Ref("maintainer-before-m-1", 1, is_branch=False)),
        metadata_location="newer.json",
    )
    assert skip_of(decide(tagged, only(FILES), found)).code is SkipCode.NOTHING_TO_GAIN, (
        "the run's own tag is no change"
    )
    assert decide(replace(ROTTEN, snapshot_id=7), only(FILES), found).planned
    assert decide(ROTTEN, only(FILES, version="v2"), found).planned, (
        "another policy may have it do something else"
    )


def test_outside_its_window_a_table_waits_for_the_next_opening() -> None:
    window = Window("0 1 * * *", timedelta(hours=4), "Europe/Berlin")
    skipped = held(QUIET, window=window)
    assert (skipped.code, skipped.next_at) == (
        SkipCode.OUTSIDE_WINDOW,
        datetime(2026, 3, 5, 0, 0, tzinfo=UTC),
    )
    assert decide(
        ROTTEN, only(FILES, window=window), Circumstances(datetime(2026, 3, 5, 0, 0, tzinfo=UTC))
    ).planned


def test_thresholds_on_ages_say_when_they_will_hold() -> None:
    rule = replace(EXPIRY, when=(Threshold(Metric.OLDEST_SNAPSHOT_AGE_SECONDS, 10 * 86400.0),))
    skipped = held(QUIET, rule)
    assert skipped.reason == "age of the oldest snapshot 8 d 8 h, threshold above 10 d"
    assert ROTTEN.oldest_snapshot_at is not None
    assert skipped.next_at == ROTTEN.oldest_snapshot_at + 10 * DAY
    empty = replace(ROTTEN, oldest_snapshot_at=None)
    assert skip_of(decide(empty, only(rule), QUIET), rule.name).code is SkipCode.NOT_MEASURED


def test_expiry_with_nothing_old_enough_says_when_to_look_again() -> None:
    young = with_history(ROTTEN, [timedelta(hours=200 - i) for i in range(80, 200)])
    skipped = skip_of(decide(young, only(EXPIRY), QUIET), EXPIRY.name)
    assert skipped.code is SkipCode.NOTHING_TO_GAIN
    assert (
        skipped.reason
        == "none of 120 snapshots is older than 5 d and beyond the newest 10, branches and tags"
    )
    assert skipped.next_at == NOW + timedelta(hours=1), (
        "it is exactly 5 d old, and expiry cuts at the full hour"
    )


def test_a_verdict_that_has_not_changed_reads_the_same_at_each_look() -> None:
    aged = replace(
        EXPIRY, when=(Threshold(Metric.OLDEST_SNAPSHOT_AGE_SECONDS, DAY.total_seconds()),)
    )
    unmet = replace(
        EXPIRY,
        when=(Threshold(Metric.OLDEST_SNAPSHOT_AGE_SECONDS, 90 * DAY.total_seconds()),),
    )
    young = with_history(ROTTEN, [timedelta(hours=h, minutes=7) for h in range(119, 0, -1)])
    for health, rule in (
        (ROTTEN, aged),
        (ROTTEN, unmet),
        (young, aged),
        (young, EXPIRY),
        (ROTTEN, FILES),
    ):
        first = decide(health, only(rule), Circumstances(NOW + timedelta(minutes=5)))
        looks = [
            decide(
                health,
                only(rule),
                Circumstances(NOW + timedelta(minutes=m, seconds=m), previous=first),
            )
            for m in (10, 20, 50)
        ]
        assert all(
            (look.planned, look.skipped) == (first.planned, first.skipped) for look in looks
        ), looks[0]


def test_an_age_is_written_beyond_its_bound_only_when_it_is() -> None:
    health = replace(ROTTEN, oldest_snapshot_at=NOW - DAY)
    rule = replace(
        EXPIRY, when=(Threshold(Metric.OLDEST_SNAPSHOT_AGE_SECONDS, DAY.total_seconds()),)
    )
    at_bound = skip_of(decide(health, only(rule), QUIET), rule.name)
    assert at_bound.reason == "age of the oldest snapshot 1 d, threshold above 1 d"
    beyond = decide(health, only(rule), Circumstances(NOW + timedelta(minutes=1))).planned[0]
    assert beyond.findings[0].sentence == "age of the oldest snapshot 1 d 1 h, threshold above 1 d"


def test_expiry_cuts_at_the_full_hour_so_that_the_same_work_reads_the_same() -> None:
    moment = NOW + timedelta(minutes=42, seconds=7)
    expiry = (
        decide(ROTTEN, only(ExpireSnapshotsRule(when=EXPIRY.when)), Circumstances(moment))
        .planned[0]
        .action
    )
    assert expiry == ExpireSnapshots(NOW - 5 * DAY, 10)


def test_manifests_are_left_alone_unless_there_are_twice_as_many_as_needed() -> None:
    big = replace(
        ROTTEN, manifest_groups=(ManifestGroup(0, ManifestContent.DATA, 300, 200 * 8 * MIB),)
    )
    skipped = skip_of(decide(big, only(MANIFESTS), QUIET), MANIFESTS.name)
    assert skipped.code is SkipCode.NOTHING_TO_GAIN
    assert skipped.reason.startswith("300 manifests of spec 0 hold 1.6 GiB: 167 are needed")
    none = replace(ROTTEN, manifest_groups=())
    assert (
        skip_of(decide(none, only(MANIFESTS), QUIET), MANIFESTS.name).reason
        == "the table has nothing that this rule could change"
    )


def test_an_empty_table_has_no_gain() -> None:
    skipped = skip_of(decide(replace(ROTTEN, snapshot_id=None), only(FILES), QUIET))
    assert skipped.code is SkipCode.NOTHING_TO_GAIN
    assert skipped.reason == "the table has nothing that this rule could change"


def options_of(policy: Policy, size: int = 1000) -> dict[str, str]:
    health = health_of_partitions(
        {f"day={d}": [size] * 60 for d in range(10)},
        target_bytes=policy.target_file_size_bytes or 512 * MIB,
    )
    (planned,) = decide(health, policy, QUIET).planned
    assert isinstance(planned.action, RewriteDataFiles)
    return dict(planned.action.options)


def test_the_policys_target_reaches_the_statement_and_the_tables_own_is_left_to_iceberg() -> None:
    assert options_of(only(FILES, target_file_size_bytes=128 * MIB))[
        "target-file-size-bytes"
    ] == str(128 * MIB)
    assert "target-file-size-bytes" not in options_of(only(FILES))


def test_a_large_rewrite_commits_as_it_goes_and_a_policy_may_say_otherwise() -> None:
    assert options_of(only(FILES), size=10 * MIB)["partial-progress.enabled"] == "true"
    atomic = replace(FILES, options=(("partial-progress.enabled", "false"),))
    assert options_of(only(atomic), size=10 * MIB)["partial-progress.enabled"] == "false"


def test_options_of_another_strategy_are_left_out_because_iceberg_would_refuse_the_rewrite() -> (
    None
):
    sorting = replace(
        FILES,
        options=(("compression-factor", "2"), ("max-output-size", "8"), ("min-input-files", "2")),
    )
    assert set(options_of(only(sorting))) == {"min-input-files", "partial-progress.enabled"}
    assert set(options_of(only(replace(sorting, strategy="sort", sort_order="a")))) == {
        "min-input-files",
        "partial-progress.enabled",
        "compression-factor",
    }
    assert "max-output-size" in options_of(
        only(replace(sorting, strategy="sort", sort_order="zorder(a, b)"))
    )


def test_one_group_is_singular() -> None:
    assert (
        "in 1 group would"
        in decide(health_of_partitions({"a": [1000] * 9}), only(FILES), QUIET).planned[0].reason
    )


def test_a_person_is_held_back_by_guards_and_gains_only() -> None:
    observed = Policy(
        mode=Mode.OBSERVE,
        rules=(replace(FILES, cooldown=DAY), EXPIRY),
        window=Window("0 1 1 1 *", timedelta(hours=1)),
    )
    cooling = history(last_success_at=NOW)
    everything = decide(ROTTEN, on_request(observed, ()), cooling)
    assert [planned.rule for planned in everything.planned] == [
        RuleName.REWRITE_DATA_FILES,
        RuleName.EXPIRE_SNAPSHOTS,
    ]
    named = decide(ROTTEN, on_request(observed, (RuleName.REWRITE_MANIFESTS,)), cooling)
    assert [planned.rule for planned in named.planned] == [RuleName.REWRITE_MANIFESTS]
    failed = history(consecutive_failures=9, last_failure_at=NOW)
    assert not decide(ROTTEN, on_request(observed, (FILES.name,)), failed).planned
    assert decide(
        ROTTEN, on_request(observed, (FILES.name,)), replace(failed, is_requested=True)
    ).planned
    healthy = health_of_partitions({"a": [500 * MIB]})
    assert (
        skip_of(decide(healthy, on_request(observed, (FILES.name,)), cooling)).code
        is SkipCode.NOTHING_TO_GAIN
    )
    disabled = Policy(rules=(replace(FILES, is_enabled=False),))
    assert decide(ROTTEN, on_request(disabled, (FILES.name,)), QUIET).planned
    left = on_request(observed, (FILES.name, RuleName.REMOVE_ORPHAN_FILES), keeps_thresholds=True)
    assert [(rule.name, rule.when) for rule in left.rules] == [(FILES.name, FILES.when)], (
        "of the policy's rules those that are left of the request"
    )


# -- properties

METRICS = st.sampled_from(Metric)
THRESHOLDS = st.builds(Threshold, METRICS, st.floats(0, 1e9))
EXPIRY_FIELDS = {"max_age": st.timedeltas(timedelta(0), 30 * DAY), "keep": st.integers(0, 50)}
RULE_SETS = st.lists(
    st.sampled_from(sorted(RULES)).flatmap(
        lambda name: st.builds(
            RULES[name],
            when=st.lists(THRESHOLDS, max_size=2).map(tuple),
            is_enabled=st.booleans(),
            cooldown=st.timedeltas(timedelta(0), 30 * DAY),
            every=st.none() | st.timedeltas(timedelta(0), 30 * DAY),
            **(EXPIRY_FIELDS if name == RuleName.EXPIRE_SNAPSHOTS else {}),
        )
    ),
    unique_by=lambda rule: rule.name,
    max_size=5,
).map(tuple)
WINDOWS = st.none() | st.builds(
    Window,
    st.sampled_from(["0 1 * * *", "*/30 * * * *", "15 2 * * 0"]),
    st.timedeltas(timedelta(minutes=1), DAY),
    st.sampled_from(["UTC", "Europe/Berlin"]),
)
BLACKOUTS = st.lists(WINDOWS, max_size=2).map(
    lambda windows: tuple(window for window in windows if window is not None)
)
POLICIES = st.builds(
    Policy,
    st.sampled_from(Mode),
    st.integers(0, 100),
    st.none() | st.just(128 * MIB),
    WINDOWS,
    RULE_SETS,
    blackouts=BLACKOUTS,
)
HISTORIES = st.builds(
    RuleHistory,
    st.just(RuleName.REWRITE_DATA_FILES),
    last_success_at=st.none()
    | st.datetimes(datetime(2026, 1, 1), datetime(2026, 5, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    consecutive_failures=st.integers(0, 9),
    last_failure_at=st.none() | st.just(NOW - timedelta(hours=3)),
)
CIRCUMSTANCES = st.builds(
    Circumstances,
    st.datetimes(datetime(2026, 3, 1), datetime(2026, 4, 30), timezones=st.just(UTC)),  # noqa: DTZ001
    HISTORIES.map(lambda entry: {entry.rule: entry}),
    st.none() | st.just("m-1"),
    st.none() | st.just("ada"),
)
HEALTHS = st.builds(
    lambda sizes, hours, version, disabled: replace(
        with_history(
            health_of_partitions(
                {f"p={i}": part for i, part in enumerate(sizes)},
                properties={"gc.enabled": "false"} if disabled else {},
            ),
            [timedelta(hours=h) for h in sorted(hours, reverse=True)],
        ),
        format_version=version,
    ),
    st.lists(st.lists(st.integers(1, 10**9), max_size=8), max_size=4),
    st.lists(st.integers(0, 2000), max_size=12),
    st.integers(1, 4),
    st.booleans(),
)


@given(HEALTHS, POLICIES, CIRCUMSTANCES)
def test_a_plan_has_each_rule_exactly_once_and_is_deterministic(
    health: TableHealth, policy: Policy, circumstances: Circumstances
) -> None:
    plan = decide(health, policy, circumstances)
    verdicts: list[PlannedAction | SkippedRule] = [*plan.planned, *plan.skipped]
    assert sorted(verdict.rule for verdict in verdicts) == sorted(
        rule.name for rule in policy.rules
    )
    assert all(verdict.reason for verdict in verdicts)
    assert decide(health, policy, circumstances) == plan


@given(HEALTHS, POLICIES, CIRCUMSTANCES)
def test_nothing_is_planned_that_would_achieve_nothing_or_is_forbidden(
    health: TableHealth, policy: Policy, circumstances: Circumstances
) -> None:
    plan = decide(health, policy, circumstances)
    statistics = {RuleName.COMPUTE_TABLE_STATS, RuleName.COMPUTE_PARTITION_STATS}
    assert all(
        planned.estimate.items_removed > 0
        for planned in plan.planned
        if planned.rule not in statistics
    )
    assert all(
        planned.estimate.items_after > 0 for planned in plan.planned if planned.rule in statistics
    ), "they remove nothing, they are written"
    if plan.planned:
        assert policy.mode is Mode.ENFORCE
        assert circumstances.in_flight is None
        assert circumstances.paused_by is None
        assert policy.window is None or is_open(policy.window, circumstances.now)
        assert not any(is_blacked_out(blackout, circumstances.now) for blackout in policy.blackouts)
    for planned in plan.planned:
        if isinstance(planned.action, ExpireSnapshots):
            assert planned.action.retain_last >= 2
            assert planned.action.older_than <= circumstances.now - timedelta(hours=24)
            assert health.properties.get("gc.enabled") != "false"


@given(st.lists(st.integers(1, 300 * MIB), min_size=1, max_size=30), st.integers(1, 30))
def test_worse_health_never_yields_fewer_actions(sizes: list[int], more: int) -> None:
    """More small files in the same partition keep what was planned planned."""
    now = decide(health_of_partitions({"a": sizes}), only(replace(FILES, when=())), QUIET)
    worse = decide(
        health_of_partitions({"a": sizes + [1000] * more}), only(replace(FILES, when=())), QUIET
    )
    assert len(worse.planned) >= len(now.planned)
