"""Each table is in exactly one state, with a sentence, since when, and the next action."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.decide.grading.bands import (
    DAMAGE,
    DISAGREEMENT,
    LOST_DELETE,
    UNREADABLE,
    WRONG_SUMMARY,
)
from maintainer.decide.outlook import WAITING
from maintainer.decide.status import TableFacts, find_status
from maintainer.domain.action import RewriteManifests
from maintainer.domain.admission import AdmissionDecision, ScopePause, Wait, WaitCode
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.cost import Cost
from maintainer.domain.driver import Progress
from maintainer.domain.health import Band, Finding, Grade
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import JobState
from maintainer.domain.plan import Estimate, Plan, PlannedAction, SkipCode, SkippedRule, Unenforced
from maintainer.domain.policy import RuleName
from maintainer.domain.status import TableState, TableStatus
from tests.decide.test_outlook import COMPACT, EXPIRE, MANIFESTS, REWRITE, job, plan, wait_for
from tests.samples import NOW, TABLE

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
GAIN, NO_GAIN = Estimate(100, 2, 98, 1000), Estimate(0, 0, 0, 0)
FAULT = TableFault(TABLE, FaultKind.METADATA_MISSING, "v3.metadata.json is missing.", NOW)
PAUSE = ScopePause(str(TABLE), "person ann", NOW, "a migration")
SMALL = Finding("average_file_size_bytes", 1.0, 4.0, Band.CRITICAL, sentence="files are small")
HEALTHY = Grade(Band.HEALTHY, (), "No limit is exceeded.", NOW - DAY)
CRITICAL = Grade(Band.CRITICAL, (SMALL,), "files are small", NOW - DAY)
BY_NATURE = Grade(
    Band.HEALTHY, (replace(SMALL, is_actionable=False),), "Nothing to gain: …", NOW - DAY
)
NOT_DUE = SkippedRule(REWRITE, SkipCode.BELOW_THRESHOLD, "12 small files, threshold 100")
OBSERVED = SkippedRule(REWRITE, SkipCode.OBSERVE_ONLY, "the policy is in observe mode")


def damaged(metric: str) -> Grade:
    finding = Finding(metric, 1.0, 0.0, Band.CRITICAL, sentence="m1.avro cannot be read")
    noted = Finding(DISAGREEMENT, 1.0, 0.0, is_actionable=False)
    return Grade(Band.CRITICAL, (noted, finding), finding.sentence, NOW - DAY)


def facts(grade: Grade | None = HEALTHY, made: Plan | None = None, **more: object) -> TableFacts:
    given = TableFacts(TABLE, grade=grade, plan=plan(NOT_DUE) if made is None else made)
    return replace(given, **more)  # type: ignore[arg-type]


def held(code: SkipCode, estimate: Estimate | None = GAIN, **more: object) -> SkippedRule:
    return replace(SkippedRule(REWRITE, code, "why", estimate=estimate), **more)  # type: ignore[arg-type]


def state(given: TableFacts) -> TableState:
    return find_status(given).state


def test_a_table_without_a_finding_is_healthy_and_has_no_next_action() -> None:
    assert find_status(facts()) == TableStatus(
        TABLE, TableState.HEALTHY, "No limit is exceeded.", NOW - DAY, band=Band.HEALTHY
    )


@pytest.mark.parametrize(
    ("is_partitioned", "cure"),
    [(True, "Coarser partitions or more data would."), (False, "More data would.")],
)
def test_small_files_that_maintenance_cannot_change_are_small_by_nature_and_say_what_would(
    is_partitioned: bool, cure: str
) -> None:
    assert find_status(facts(BY_NATURE, is_partitioned=is_partitioned)) == TableStatus(
        TABLE,
        TableState.SMALL_BY_NATURE,
        f"Maintenance cannot help: files are small. {cure}",
        NOW - DAY,
        command="maintainer why lake.sales.orders",
        band=Band.HEALTHY,
    )


def test_a_table_that_cannot_be_measured_is_unreadable_whatever_else_is_known() -> None:
    found = find_status(facts(damaged(UNREADABLE), fault=FAULT, job=job(), scope_pauses=(PAUSE,)))
    assert found == TableStatus(
        TABLE,
        TableState.UNREADABLE,
        "The table cannot be read: v3.metadata.json is missing.",
        NOW,
        command="maintainer scan lake.sales.orders",
        band=Band.CRITICAL,
        needs_person=True,
    )


@pytest.mark.parametrize("metric", [UNREADABLE, LOST_DELETE])
def test_missing_metadata_and_lost_deletes_are_damage_that_needs_a_person_even_while_a_job_runs(
    metric: str,
) -> None:
    found = find_status(facts(damaged(metric)))
    assert (found.state, found.since, found.needs_person) == (
        TableState.DAMAGED,
        NOW - DAY,
        True,
    )
    assert found.sentence == "The table is damaged: m1.avro cannot be read."
    running = find_status(facts(damaged(metric), job=job()))
    assert (running.state, running.needs_person) == (TableState.DAMAGED, True)
    assert running.sentence.endswith("cannot be read. Compacting data files is running.")


def test_wrong_summaries_need_nobody_while_a_rewrite_of_manifests_mends_them() -> None:
    grade = damaged(WRONG_SUMMARY)
    rewrite = PlannedAction(MANIFESTS, RewriteManifests(0, ()), (), GAIN, "why")
    for mended in (
        facts(grade, plan(rewrite)),
        facts(grade, job=job(rule=MANIFESTS, action=rewrite.action)),
    ):
        found = find_status(mended)
        assert (found.state, found.needs_person) == (TableState.DAMAGED, False)
        assert "Rewriting manifests is" in found.sentence
    assert find_status(facts(grade, job=job())).needs_person
    assert find_status(facts(grade, plan(COMPACT))).needs_person
    assert find_status(replace(facts(grade), plan=None)).needs_person


@pytest.mark.parametrize(
    ("more", "since", "until"),
    [
        ({}, NOW, None),
        ({"submitted_at": NOW + HOUR}, NOW + HOUR, None),
        (
            {"started_at": NOW + HOUR, "cost": Cost(1.0, 1.0, 60.0)},
            NOW + HOUR,
            NOW + HOUR * 61 / 60,
        ),
        ({"cost": Cost(1.0, 1.0, 60.0)}, NOW, None),
        ({"progress": Progress(ends_at=NOW + DAY)}, NOW, NOW + DAY),
    ],
)
def test_an_unfinished_job_says_since_when_and_until_about_when_the_table_is_maintained(
    more: dict[str, object], since: datetime, until: datetime | None
) -> None:
    found = find_status(facts(CRITICAL, job=job(JobState.RUNNING, **more), scope_pauses=(PAUSE,)))
    assert (found.state, found.since, found.until) == (TableState.BEING_MAINTAINED, since, until)
    assert found.sentence.startswith("Compacting data files is running")
    assert found.command == "maintainer jobs show m-1"
    assert found.band is Band.CRITICAL
    assert find_status(replace(facts(), grade=None, job=job())).band is None


def test_a_pause_of_a_person_needs_nobody_and_names_the_command_that_ends_it() -> None:
    found = find_status(facts(CRITICAL, plan(COMPACT), scope_pauses=(PAUSE,)))
    assert (found.state, found.since, found.needs_person) == (TableState.PAUSED, NOW, False)
    assert "person ann paused lake.sales.orders" in found.sentence
    assert found.command == "maintainer resume lake.sales.orders"
    everything = find_status(facts(scope_pauses=(replace(PAUSE, scope="*"),)))
    assert everything.command == "maintainer resume"
    namespace = find_status(facts(scope_pauses=(replace(PAUSE, scope="lake.sales.*"),)))
    assert namespace.command == "maintainer resume 'lake.sales.*'"
    unmeasured = find_status(replace(facts(scope_pauses=(PAUSE,)), grade=None, plan=None))
    assert (unmeasured.state, unmeasured.band) == (TableState.PAUSED, None)


def test_a_pause_after_a_failed_proof_needs_a_person() -> None:
    assert find_status(facts(scope_pauses=(replace(PAUSE, by=BY_PROOF),))).needs_person


def test_a_table_waits_for_its_first_scan_and_then_for_its_first_plan() -> None:
    unmeasured = find_status(TableFacts(TABLE))
    assert (unmeasured.state, unmeasured.sentence, unmeasured.band) == (
        TableState.WAITING,
        "The table waits for its first scan.",
        None,
    )
    assert unmeasured.command == "maintainer scan lake.sales.orders"
    unplanned = find_status(TableFacts(TABLE, grade=CRITICAL))
    assert (unplanned.state, unplanned.sentence) == (
        TableState.WAITING,
        "No plan has been made yet.",
    )


def test_a_table_without_a_policy_is_not_covered_and_needs_a_person_if_a_rule_would_help() -> None:
    healthy = find_status(facts(is_covered=False))
    assert healthy == TableStatus(
        TABLE,
        TableState.NOT_COVERED,
        "No policy selects the table. No limit is exceeded.",
        command="maintainer suggest lake.sales.orders",
        band=Band.HEALTHY,
    )
    critical = find_status(facts(CRITICAL, plan(OBSERVED), is_covered=False))
    assert (critical.state, critical.needs_person) == (TableState.NOT_COVERED, True)
    assert (
        "Compacting data files is due but does not start: the policy is in observe mode"
        in critical.sentence
    )
    assert state(TableFacts(TABLE, grade=CRITICAL, is_covered=False)) is TableState.NOT_COVERED


def test_a_planned_action_is_due_as_soon_as_one_of_them_may_start() -> None:
    found = find_status(facts(CRITICAL, plan(replace(COMPACT, waiting_since=NOW - HOUR))))
    assert found == TableStatus(
        TABLE,
        TableState.DUE,
        "Compacting data files is planned.",
        NOW - HOUR,
        command="maintainer plan lake.sales.orders",
        band=Band.CRITICAL,
    )
    assert state(facts(made=plan(COMPACT), admissions=wait_for(None))) is TableState.DUE
    queued = wait_for(Wait(WaitCode.QUEUED, "no free slot"))
    also = replace(COMPACT, rule=EXPIRE)
    assert state(facts(made=plan(COMPACT, also), admissions=queued)) is TableState.DUE


@pytest.mark.parametrize("until", [None, NOW + HOUR])
def test_a_planned_action_that_waits_says_for_what_and_until_when(until: datetime | None) -> None:
    queued = wait_for(Wait(WaitCode.OVER_BUDGET, "the budget is spent", until))
    found = find_status(facts(CRITICAL, plan(COMPACT), admissions=queued))
    assert (found.state, found.since, found.until) == (TableState.WAITING, NOW - DAY, until)
    assert "Compacting data files waits" in found.sentence
    assert "the budget is spent" in found.sentence


def test_a_table_in_observe_mode_that_would_be_maintained_is_observed_and_needs_a_person() -> None:
    made = plan(replace(OBSERVED, waiting_since=NOW - DAY), held(SkipCode.COOLING_DOWN))
    found = find_status(facts(CRITICAL, made))
    assert (found.state, found.since, found.needs_person) == (
        TableState.OBSERVED,
        NOW - DAY,
        True,
    )
    assert found.sentence == (
        "Compacting data files is due but does not start: the policy is in observe mode."
    )
    assert found.unenforced == Unenforced(1, 0, 0.0)
    assert state(facts(made=plan(NOT_DUE))) is TableState.HEALTHY


def test_what_is_only_observed_is_summed_up_by_data_files_and_known_costs() -> None:
    cost = Cost(0.5, 1.0, 60.0)
    made = plan(
        replace(OBSERVED, estimate=GAIN, cost=cost),
        replace(OBSERVED, estimate=GAIN, cost=cost, rule=EXPIRE),
        replace(OBSERVED, rule=MANIFESTS),
    )
    assert find_status(facts(CRITICAL, made)).unenforced == Unenforced(1, 98, 1.0)
    assert find_status(facts(CRITICAL, made, is_covered=False)).unenforced is not None
    assert find_status(facts(CRITICAL, plan(NOT_DUE))).unenforced is None


def test_a_rule_that_is_held_back_says_for_what_and_until_when() -> None:
    soon = held(SkipCode.COOLING_DOWN, next_at=NOW + HOUR, waiting_since=NOW - HOUR)
    late = held(SkipCode.OUTSIDE_WINDOW, next_at=NOW + DAY, waiting_since=NOW)
    found = find_status(facts(CRITICAL, plan(late, soon)))
    assert (found.state, found.since, found.until) == (
        TableState.WAITING,
        NOW - HOUR,
        NOW + HOUR,
    )
    assert found.sentence == (
        "Compacting data files is due and waits for the end of its cooldown: why."
    )
    assert not found.needs_person


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (NO_GAIN, TableState.HEALTHY),
        (replace(NO_GAIN, files_with_deletes=1), TableState.WAITING),
        (GAIN, TableState.WAITING),
        (None, TableState.WAITING),
    ],
)
def test_the_cooldown_of_a_run_that_would_remove_nothing_leaves_a_table_healthy(
    estimate: Estimate | None, expected: TableState
) -> None:
    assert state(facts(made=plan(held(SkipCode.COOLING_DOWN, estimate)))) is expected


@pytest.mark.parametrize("band", [Band.WATCH, Band.DEGRADED, Band.CRITICAL])
def test_a_worse_band_for_which_nothing_is_due_waits_for_its_policys_thresholds(
    band: Band,
) -> None:
    found = find_status(facts(replace(CRITICAL, band=band)))
    assert (found.state, found.since) == (TableState.WAITING, NOW - DAY)
    assert found.sentence == (
        "files are small. Nothing is due. Compacting data files is not due: 12 small files, "
        "threshold 100."
    )
    assert found.command == "maintainer why lake.sales.orders"
    assert not found.needs_person


@pytest.mark.parametrize("code", list(SkipCode))
def test_a_critical_table_whose_compaction_is_refused_needs_a_person(code: SkipCode) -> None:
    refusals = {"unsafe", "unsupported", "gc_disabled", "retention_floor", "pinned"}
    refused = SkippedRule(REWRITE, code, "a reason", estimate=NO_GAIN)
    found = find_status(facts(CRITICAL, plan(replace(NOT_DUE, rule=EXPIRE), refused)))
    asks = refusals | {"ambiguous_policy", "observe_only"}
    assert found.needs_person is (code.value in asks)
    if found.needs_person:
        assert found.sentence.endswith(": a reason.")
    other = plan(NOT_DUE, replace(refused, rule=EXPIRE))
    assert find_status(facts(CRITICAL, other)).needs_person is (code is SkipCode.OBSERVE_ONLY)
    degraded = facts(replace(CRITICAL, band=Band.DEGRADED), plan(refused))
    assert find_status(degraded).needs_person is (code is SkipCode.OBSERVE_ONLY)


def test_a_policy_without_rules_says_so_for_a_critical_table() -> None:
    assert find_status(facts(CRITICAL, plan())).sentence == (
        "files are small. Nothing is due. The policy has no rules for this table."
    )


def _subsets(values: Iterable[SkipCode]) -> st.SearchStrategy[list[SkippedRule]]:
    made = st.builds(
        held,
        st.sampled_from(list(values)),
        st.sampled_from([GAIN, NO_GAIN, None]),
        rule=st.sampled_from(list(RuleName)),
        next_at=st.sampled_from([None, NOW + HOUR]),
    )
    return st.lists(made, max_size=3, unique_by=lambda one: one.rule)


_PLANS = st.builds(
    lambda planned, skipped: plan(*planned, *skipped),
    st.sampled_from([(), (COMPACT,)]),
    _subsets(SkipCode),
)
_FACTS = st.builds(
    TableFacts,
    table=st.just(TABLE),
    fault=st.sampled_from([None, None, None, FAULT]),
    grade=st.sampled_from(
        [None, HEALTHY, CRITICAL, BY_NATURE, damaged(UNREADABLE), damaged(WRONG_SUMMARY)]
    ),
    plan=st.none() | _PLANS,
    job=st.sampled_from([None, None, *(job(one) for one in JobState if not one.is_final)]),
    scope_pauses=st.sampled_from([(), (), (PAUSE,), (replace(PAUSE, by=BY_PROOF),)]),
    admissions=st.sampled_from(
        [(), wait_for(None), wait_for(Wait(WaitCode.QUEUED, "no free slot"))]
    ),
    is_covered=st.booleans(),
    is_partitioned=st.sampled_from([None, True, False]),
)


def _holds(given: TableFacts) -> dict[TableState, bool]:
    """The meaning of each state, written down once more and without the order of the states."""
    metrics = {one.metric for one in (given.grade.findings if given.grade else ())}
    skipped = given.plan.skipped if given.plan else ()
    is_damaged = bool(metrics & DAMAGE)
    is_known = given.fault is None and not is_damaged
    is_paused = bool(given.scope_pauses)
    is_idle = is_known and given.job is None and not is_paused
    is_planned = is_idle and given.grade is not None and given.is_covered
    plans_now = given.plan.planned if given.plan else ()
    starts = any(wait is None for wait in _waits(given.admissions)) or not given.admissions
    observes = any(one.code is SkipCode.OBSERVE_ONLY for one in skipped)
    helps = any(
        one.code in WAITING and (one.estimate is None or one.estimate.items_removed)
        for one in skipped
    )
    rests = is_planned and given.plan is not None and not plans_now and not observes and not helps
    is_good = given.grade is not None and given.grade.band is Band.HEALTHY
    waits_for_plan = is_planned and given.plan is None
    waits_in_queue = is_planned and bool(plans_now) and not starts
    waits_by_policy = is_planned and not plans_now and not observes and helps
    return {
        TableState.UNREADABLE: given.fault is not None,
        TableState.DAMAGED: given.fault is None and is_damaged,
        TableState.BEING_MAINTAINED: is_known and given.job is not None,
        TableState.PAUSED: is_known and given.job is None and is_paused,
        TableState.NOT_COVERED: is_idle and given.grade is not None and not given.is_covered,
        TableState.DUE: is_planned and bool(plans_now) and starts,
        TableState.OBSERVED: is_planned and not plans_now and observes,
        TableState.WAITING: (is_idle and given.grade is None)
        or waits_for_plan
        or waits_in_queue
        or waits_by_policy
        or (rests and not is_good),
        TableState.SMALL_BY_NATURE: rests and is_good and bool(metrics),
        TableState.HEALTHY: rests and is_good and not metrics,
    }


def _waits(admissions: Iterable[AdmissionDecision]) -> list[Wait | None]:
    return [one.wait for one in admissions]


@given(_FACTS)
def test_each_table_is_in_exactly_one_state(given: TableFacts) -> None:
    holding = [one for one, holds in _holds(given).items() if holds]
    found = find_status(given)
    assert holding == [found.state]
    assert found.sentence.endswith(".")
    assert "None" not in found.sentence
    assert (found.command == "") is (found.state is TableState.HEALTHY)
