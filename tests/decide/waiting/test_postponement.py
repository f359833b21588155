"""Back-off, waiting and pauses: what postpones a rule although it would help."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.decide.waiting.postponement import LONGEST_INTERVAL, find_pause
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.admission import ScopePause
from maintainer.domain.health import Band
from maintainer.domain.plan import Plan, RuleHistory, SkipCode, SkippedRule
from maintainer.domain.policy import Budget, Mode, Policy, Rule, RuleName, Window
from maintainer.domain.rules import (
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
)
from maintainer.domain.units import MIB
from maintainer.policy.restriction import find_scope_pause, hash_scope_pauses, is_draining
from maintainer.procedures.rewrite_data_files.limits import shrink_groups
from tests.samples import NOW, TABLE, health_of_partitions

FILES = RewriteDataFilesRule()
ENFORCED = Policy(mode=Mode.ENFORCE, rules=(FILES,))
ROTTEN = health_of_partitions({"day=1": [1000] * 60})
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def look(policy: Policy = ENFORCED, history: RuleHistory | None = None, **changes: object) -> Plan:
    known = {RuleName.REWRITE_DATA_FILES: history} if history is not None else {}
    return decide(ROTTEN, policy, replace(Circumstances(NOW, known), **changes))  # type: ignore[arg-type]


def held(plan: Plan) -> SkippedRule:
    (skipped,) = plan.skipped
    return skipped


# -- the interval and the back-off


@pytest.mark.parametrize(
    ("empty_runs", "hours", "runs"),
    [(0, 6, ""), (1, 12, "the last run"), (2, 24, "the last 2 runs"), (300, 720, "the last 300")],
)
def test_every_run_without_a_gain_doubles_the_interval_up_to_a_month(
    empty_runs: int, hours: int, runs: str
) -> None:
    plan = look(
        history=RuleHistory(RuleName.REWRITE_DATA_FILES, last_success_at=NOW, empty_runs=empty_runs)
    )
    assert held(plan).next_at == NOW + HOUR * hours
    assert (f"because {runs}" in held(plan).reason) is bool(runs)
    assert held(plan).reason.endswith("or less than a tenth of the prediction") is bool(runs)


@pytest.mark.parametrize("rule", [ExpireSnapshotsRule(), RemoveOrphanFilesRule(every=7 * DAY)])
def test_what_becomes_due_by_age_alone_keeps_its_interval(rule: Rule) -> None:
    history = RuleHistory(rule.name, last_success_at=NOW, empty_runs=9)
    paused = find_pause(rule, history)
    assert paused == max(rule.cooldown, rule.every or HOUR * 0)


def test_an_interval_longer_than_a_month_is_left_as_it_is() -> None:
    rare = replace(ENFORCED, rules=(replace(FILES, every=LONGEST_INTERVAL * 2),))
    plan = look(rare, RuleHistory(RuleName.REWRITE_DATA_FILES, last_success_at=NOW, empty_runs=9))
    assert held(plan).next_at == NOW + LONGEST_INTERVAL * 2


def test_after_a_person_cancelled_a_job_the_rule_waits_for_its_interval() -> None:
    history = RuleHistory(
        RuleName.REWRITE_DATA_FILES, cancelled_at=NOW - HOUR, cancelled_by="person ada"
    )
    plan = look(history=history)
    assert (held(plan).code, held(plan).next_at) == (SkipCode.COOLING_DOWN, NOW + 5 * HOUR)
    assert held(plan).reason == (
        "person ada cancelled the last job at 2026-03-04 11:00 UTC; the rule waits for 6 h, or "
        "until a person runs it"
    )
    restless = replace(ENFORCED, rules=(replace(FILES, cooldown=timedelta(0)),))
    soon = replace(history, cancelled_at=NOW - timedelta(minutes=59))
    assert held(look(restless, soon)).next_at == NOW + timedelta(minutes=1)
    assert look(restless, history).planned
    assert look(history=replace(history, cancelled_at=NOW - 6 * HOUR)).planned
    assert look(history=replace(history, cancelled_at=NOW + DAY)).planned, "a clock was wrong"
    assert look(on_request(ENFORCED, ()), history, is_requested=True).planned


def test_failures_lower_the_chance_and_with_it_the_score() -> None:
    fine, failing = (
        look(),
        look(
            history=RuleHistory(
                RuleName.REWRITE_DATA_FILES, consecutive_failures=2, last_failure_at=NOW - 3 * HOUR
            )
        ),
    )
    scores = [plan.planned[0].score for plan in (fine, failing)]
    assert scores[0] is not None
    assert scores[1] is not None
    assert scores[1].value == scores[0].value / 4


# -- conflicts


def test_after_conflicts_file_groups_become_smaller_and_are_committed_one_by_one() -> None:
    huge = replace(ROTTEN, data_bytes=1024**4, target_file_size_bytes=512 * MIB)
    once = shrink_groups(FILES, huge, RuleHistory(FILES.name, recent_conflicts=1))
    assert once == {
        "max-file-group-size-bytes": str(512 * 1024**3),
        "partial-progress.enabled": "true",
    }
    often = shrink_groups(FILES, huge, RuleHistory(FILES.name, recent_conflicts=60))
    assert often["max-file-group-size-bytes"] == str(16 * 1024**3)
    small = shrink_groups(
        FILES, replace(huge, data_bytes=None), RuleHistory(FILES.name, recent_conflicts=1)
    )
    assert small["max-file-group-size-bytes"] == str(2048 * MIB)


def test_without_conflicts_the_options_stay() -> None:
    own = replace(FILES, options=(("min-input-files", "2"),))
    assert shrink_groups(own, ROTTEN, RuleHistory(FILES.name)) == {"min-input-files": "2"}


def test_what_the_policy_itself_says_of_groups_stands() -> None:
    own = replace(FILES, options=(("partial-progress.enabled", "false"),))
    once = shrink_groups(own, ROTTEN, RuleHistory(FILES.name, recent_conflicts=1))
    assert once["partial-progress.enabled"] == "false"


def test_a_plan_after_a_conflict_carries_the_smaller_scope() -> None:
    action = (
        look(history=RuleHistory(RuleName.REWRITE_DATA_FILES, recent_conflicts=1)).planned[0].action
    )
    assert isinstance(action, RewriteDataFiles)
    assert dict(action.options)["partial-progress.enabled"] == "true"


# -- blackouts and pauses


def test_a_blackout_of_the_policy_holds_back_within_the_window_too() -> None:
    noon, long = Window("0 12 * * *", HOUR), Window("0 11 * * *", 3 * HOUR)
    plan = look(replace(ENFORCED, window=Window("0 0 * * *", DAY), blackouts=(noon, long)))
    assert held(plan).code is SkipCode.OUTSIDE_WINDOW
    assert held(plan).reason == "in the blackout window of the policy (0 11 * * *, UTC)"
    assert held(plan).next_at == NOW + 2 * HOUR
    assert look(replace(ENFORCED, blackouts=(Window("0 1 * * *", HOUR),))).planned


def test_what_a_person_asks_for_is_held_back_by_no_blackout() -> None:
    assert (
        on_request(replace(ENFORCED, blackouts=(Window("0 12 * * *", HOUR),)), ()).blackouts == ()
    )


@pytest.mark.parametrize(
    ("pause", "reason"),
    [
        (ScopePause("lake.*", "ann", NOW, "a migration"), "ann paused lake.*: a migration"),
        (ScopePause("lake.*", "ann", NOW), "ann paused lake.*"),
        (ScopePause("*", "ann", NOW, is_drain=True), "ann started a drain"),
    ],
)
def test_a_pause_postpones_a_rule_and_names_who_asked_for_it(
    pause: ScopePause, reason: str
) -> None:
    plan = look(pause=pause)
    assert (held(plan).code, held(plan).reason) == (SkipCode.PAUSED, reason)


def test_of_several_pauses_the_widest_is_named_and_a_drain_first() -> None:
    table, sales, lake = (
        ScopePause(str(TABLE), "a", NOW),
        ScopePause("lake.sales.*", "b", NOW),
        ScopePause("lake.*", "c", NOW),
    )
    assert find_scope_pause([table, sales, lake], TABLE) is lake
    drain = ScopePause("*", "d", NOW, is_drain=True)
    assert find_scope_pause([lake, drain], TABLE) is drain
    assert find_scope_pause([ScopePause("other.*", "e", NOW)], TABLE) is None
    assert (is_draining([lake]), is_draining([lake, drain])) == (False, True)


def test_different_pauses_have_different_hashes() -> None:
    one, other = ScopePause("lake.*", "a", NOW), ScopePause("lake.*", "b", NOW)
    assert hash_scope_pauses([]) == ""
    assert len({hash_scope_pauses([]), hash_scope_pauses([one]), hash_scope_pauses([other])}) == 3


# -- since when it waits


def test_a_rule_waits_from_the_first_plan_that_wants_it() -> None:
    first = look()
    assert first.planned[0].waiting_since == NOW
    assert look(now=NOW + HOUR, previous=first).planned[0].waiting_since == NOW


def test_it_keeps_waiting_outside_its_window_and_under_a_pause_but_not_in_observe_mode() -> None:
    first = look()
    outside = replace(ENFORCED, window=Window("0 1 * * *", HOUR))
    shut = look(outside, now=NOW + HOUR, previous=first)
    assert held(shut).waiting_since == NOW
    paused = look(now=NOW + 2 * HOUR, previous=shut, paused_by="ann")
    assert look(now=NOW + 3 * HOUR, previous=paused).planned[0].waiting_since == NOW
    observed = look(replace(ENFORCED, mode=Mode.OBSERVE), now=NOW + HOUR, previous=first)
    assert held(observed).waiting_since is None
    assert look(now=NOW + 2 * HOUR, previous=observed).planned[0].waiting_since == NOW + 2 * HOUR


# -- what admission needs of a plan


def test_a_plan_carries_cost_worth_score_urgency_and_budget() -> None:
    plan = look(
        replace(ENFORCED, budget=Budget(max_jobs=1, name="policies/a.yaml")),
        band=Band.CRITICAL,
        memory_gb=3.0,
    )
    (planned,) = plan.planned
    assert planned.cost is not None
    assert planned.worth is not None
    assert planned.score is not None
    assert planned.worth.benefit.files_removed == planned.estimate.items_removed
    assert planned.cost.gb_hours == pytest.approx(
        3.0 * planned.cost.duration_seconds / 3600, rel=0.01
    )
    assert (plan.is_urgent, plan.budget) == (True, Budget(max_jobs=1, name="policies/a.yaml"))
    assert not look(band=Band.DEGRADED).is_urgent


def test_what_is_held_back_tells_its_cost_too() -> None:
    observed = held(look(replace(ENFORCED, mode=Mode.OBSERVE)))
    assert observed.cost is not None
    assert observed.score is not None
