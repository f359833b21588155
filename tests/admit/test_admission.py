from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.admit.admission import admit, choose, is_shut
from maintainer.admit.budgets import AdmissionCircumstances, Running, find_spent, running_of
from maintainer.decide.jobs.submission import check_before_submit
from maintainer.domain.action import ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.admission import (
    AdmissionDecision,
    AdmissionRules,
    Candidate,
    ScopePause,
    Scorer,
    Wait,
    WaitCode,
    find_candidates,
)
from maintainer.domain.cost import Benefit, Cost, CostBasis, Worth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, Plan, PlannedAction
from maintainer.domain.policy import (
    Budget,
    BudgetState,
    Charge,
    Mode,
    Resource,
    RuleName,
    Spending,
    Window,
)
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.units import GIB
from tests.adapters.store.values import make_job
from tests.examples import examples
from tests.samples import NOW, UUID, health_of_partitions

FILES, MANIFESTS, EXPIRY = (
    RuleName.REWRITE_DATA_FILES,
    RuleName.REWRITE_MANIFESTS,
    RuleName.EXPIRE_SNAPSHOTS,
)
TODAY = "2026-03-04"


def admitted(verdicts: Iterable[AdmissionDecision]) -> tuple[Candidate, ...]:
    """The candidates that start, best first."""
    return tuple(verdict.candidate for verdict in verdicts if verdict.is_admitted)


def candidate(
    name: str = "a",
    rule: RuleName = FILES,
    *,
    files: int = 100,
    gb_hours: float = 1.0,
    size: int = 1000,
    priority: int = 50,
    waiting: timedelta = timedelta(0),
    basis: CostBasis = CostBasis.TABLE,
    urgent: bool = False,
    catalog: str = "lake",
    budget: Budget | None = None,
) -> Candidate:
    return Candidate(
        table=TableIdentifier(catalog, ("sales",), name),
        table_uuid=f"uuid-{name}",
        rule=rule,
        cost=Cost(gb_hours, gb_hours, 60.0, basis),
        worth=Worth(Benefit(value=float(files)), 1.0, files, gb_hours),
        bytes_rewritten=size,
        waiting_since=NOW - waiting,
        priority=priority,
        is_urgent=urgent,
        budget=budget,
    )


LAKE = TableIdentifier("lake", ("sales",), "running")


def circumstances(places: int = 10, **changes: object) -> AdmissionCircumstances:
    given = AdmissionCircumstances(NOW, {DEFAULT_POOL: places}, spending=Spending(TODAY))
    return replace(given, **changes)  # type: ignore[arg-type]


def limited(
    places: int = 10, spent: Charge | None = None, **limits: object
) -> AdmissionCircumstances:
    spending = Spending(TODAY, {("lake", ""): spent} if spent is not None else {})
    return circumstances(
        places,
        spending=spending,
        rules=AdmissionRules(fleet=Budget(name="the fleet", **limits)),  # type: ignore[arg-type]
    )


def names(candidates: Sequence[Candidate], given: AdmissionCircumstances) -> list[str]:
    return [one.table.name for one in admitted(admit(candidates, given))]


def wait_of(verdicts: Sequence[AdmissionDecision], one: Candidate) -> Wait:
    wait = next(verdict.wait for verdict in verdicts if verdict.candidate is one)
    assert wait is not None
    return wait


def test_without_a_free_place_the_best_knows_that_it_is_next() -> None:
    best = candidate("a", files=900)
    assert wait_of(admit([best], circumstances(places=0)), best) == Wait(
        WaitCode.QUEUED, "no free slot; next in line", ahead=0
    )


def test_the_best_start_and_the_others_know_how_many_go_first() -> None:
    best, good, poor = (
        candidate("poor-name", files=900),
        candidate("b", files=500),
        candidate("c", files=10),
    )
    verdicts = admit([poor, good, best], circumstances(places=1))
    assert [verdict.candidate for verdict in verdicts] == [best, good, poor]
    assert verdicts[0].is_admitted
    assert wait_of(verdicts, good) == Wait(
        WaitCode.QUEUED, "no free slot; 1 ahead in the queue", ahead=1
    )
    assert wait_of(verdicts, poor) == Wait(
        WaitCode.QUEUED, "no free slot; 2 ahead in the queue", ahead=2
    )
    assert verdicts[0].score.value == 900


def test_of_equals_the_longest_waiting_goes_first_and_then_the_name() -> None:
    autocomp = circumstances(places=2, rules=AdmissionRules(scorer=Scorer.AUTOCOMP))
    assert names(
        [candidate("c"), candidate("b"), candidate("d", waiting=timedelta(hours=1))], autocomp
    ) == ["d", "b"]


def test_a_table_whose_job_is_not_finished_waits_for_it() -> None:
    one = candidate()
    verdicts = admit([one], circumstances(running=(Running("uuid-a", LAKE, EXPIRY),)))
    assert wait_of(verdicts, one) == Wait(
        WaitCode.IN_FLIGHT, "a job is working on this table; a table has one job at a time"
    )


def test_an_action_whose_own_job_is_not_finished_says_so() -> None:
    one = candidate(rule=FILES)
    verdicts = admit([one], circumstances(running=(Running("uuid-a", LAKE, FILES),)))
    assert wait_of(verdicts, one) == Wait(
        WaitCode.IN_FLIGHT, "its job is running; a new plan follows"
    )


def test_of_a_tables_actions_the_first_in_the_fixed_order_goes_first_in_spite_of_the_scores() -> (
    None
):
    files, manifests, expiry = (
        candidate(rule=FILES, files=1),
        candidate(rule=MANIFESTS, files=999),
        candidate(rule=EXPIRY, files=99),
    )
    verdicts = admit([expiry, manifests, files], circumstances())
    assert admitted(verdicts) == (files,)
    assert wait_of(verdicts, manifests) == Wait(
        WaitCode.TURN, "rewrite_data_files runs first on this table, because it prepares this"
    )
    assert wait_of(verdicts, expiry).code is WaitCode.TURN


def test_an_action_that_no_day_can_pay_lets_the_next_one_of_its_table_pass() -> None:
    files, expiry = candidate(rule=FILES, gb_hours=100.0), candidate(rule=EXPIRY, gb_hours=0.1)
    verdicts = admit([files, expiry], limited(gb_hours_per_day=10.0))
    assert admitted(verdicts) == (expiry,)
    later = admit([files], limited(gb_hours_per_day=10.0))
    assert wait_of(later, files).code is WaitCode.TOO_LARGE
    assert (
        wait_of(later, files).reason
        == "it needs up to 100 GB-hours, more than the 8.5 GB-hours that the fleet allows in a day"
    )
    assert wait_of(later, files).next_at is None


def test_a_budget_that_is_spent_says_whose_how_much_and_when_it_is_whole_again() -> None:
    one = candidate(gb_hours=3.0)
    wait = wait_of(admit([one], limited(spent=Charge(0, 8.0), gb_hours_per_day=10.0)), one)
    assert wait.code is WaitCode.OVER_BUDGET
    assert (
        wait.reason
        == "8 GB-hours of 10 GB-hours of the fleet are spent today, and this needs up to 3 GB-hours"
    )
    assert wait.next_at == datetime(2026, 3, 5, tzinfo=UTC)
    assert wait.budget is not None
    assert (wait.budget.resource, wait.budget.limit, wait.budget.spent) == (
        Resource.GB_HOURS_PER_DAY,
        10.0,
        8.0,
    )


def test_bytes_are_limited_as_gb_hours_are() -> None:
    one = candidate(size=3 * GIB)
    wait = wait_of(admit([one], limited(spent=Charge(8.0 * GIB, 0), bytes_per_day=10 * GIB)), one)
    assert wait.reason == "8 GiB of 10 GiB of the fleet are spent today, and this needs up to 3 GiB"


def test_a_tenth_is_kept_for_urgent_work_and_a_twentieth_for_tables_that_no_cost_is_known_of() -> (
    None
):
    regular, unknown, urgent = (
        candidate("regular"),
        candidate("unknown", basis=CostBasis.CATALOG),
        candidate("urgent", urgent=True),
    )
    all_three = [regular, unknown, urgent]
    admitted_at = {
        spent: names(all_three, limited(spent=Charge(0, spent), gb_hours_per_day=100.0))
        for spent in (80.0, 85.0, 90.0, 99.5)
    }
    assert [sorted(found) for found in admitted_at.values()] == [
        ["regular", "unknown", "urgent"],
        ["unknown", "urgent"],
        ["urgent"],
        [],
    ]
    wait = wait_of(
        admit([regular], limited(spent=Charge(0, 85.0), gb_hours_per_day=100.0)), regular
    )
    assert (wait.code, wait.reason) == (
        WaitCode.RESERVED,
        (
            "85 GB-hours of 100 GB-hours of the fleet are spent today, this needs up to 1 "
            "GB-hours, "
            "and 15 GB-hours are kept for others"
        ),
    )


def test_jobs_side_by_side_are_limited_with_places_kept_for_urgent_work() -> None:
    running = tuple(Running(f"u{number}", LAKE, FILES) for number in range(9))
    regular, urgent = candidate("regular"), candidate("urgent", files=900, urgent=True)
    ten = replace(limited(max_jobs=10), running=running)
    verdicts = admit([regular, urgent], ten)
    assert admitted(verdicts) == (urgent,)
    assert (
        wait_of(verdicts, regular).code is WaitCode.OVER_BUDGET
    )  # the urgent one took the tenth place
    alone = admit([regular], ten)
    assert (
        wait_of(alone, regular).reason
        == "9 of 10 jobs of the fleet are running, and the rest is reserved for urgent work"
    )
    assert names([regular], replace(ten, running=running[:8])) == ["regular"]


def test_catalogs_and_policies_have_budgets_of_their_own() -> None:
    policy = Budget(gb_hours_per_day=2.0, name="policies/cdc.yaml")
    rules = AdmissionRules(
        per_catalog={"lake": Budget(max_jobs=1, name="catalog lake")},
        urgent_share=0.0,
        explore_share=0.0,
    )
    spending = Spending(TODAY, {("other", "policies/cdc.yaml"): Charge(0, 1.5)})
    given = circumstances(rules=rules, spending=spending)
    first, second = candidate("a", files=900), candidate("b")
    elsewhere, of_policy = (
        candidate("c", catalog="other"),
        candidate("d", catalog="other", budget=policy),
    )
    cheap = candidate("e", catalog="other", budget=policy, gb_hours=0.5)
    verdicts = admit([first, second, elsewhere, of_policy, cheap], given)
    assert sorted(one.table.name for one in admitted(verdicts)) == ["a", "c", "e"]
    assert wait_of(verdicts, second).reason == "1 of 1 jobs of catalog lake are running"
    assert wait_of(verdicts, of_policy).reason.endswith(
        "of policies/cdc.yaml are spent today, and this needs up to 1 GB-hours"
    )


def test_a_paused_action_waits_and_names_who_asked_and_why() -> None:
    one, other = candidate("a"), candidate("b", catalog="other")
    paused = admit(
        [one, other], circumstances(scope_pauses=(ScopePause("lake.*", "ann", NOW, "a migration"),))
    )
    assert admitted(paused) == (other,)
    assert wait_of(paused, one) == Wait(WaitCode.PAUSED, "ann paused lake.*: a migration")
    drained = admit(
        [one], circumstances(scope_pauses=(ScopePause("*", "ann", NOW, is_drain=True),))
    )
    assert wait_of(drained, one) == Wait(WaitCode.DRAINING, "ann started a drain")


def test_nothing_starts_in_a_blackout_and_the_one_that_ends_last_says_until_when() -> None:
    noon, long = (
        Window("0 12 * * *", timedelta(hours=1)),
        Window("0 11 * * *", timedelta(hours=3), "UTC"),
    )
    one = candidate()
    verdicts = admit(
        [one],
        circumstances(
            rules=AdmissionRules(blackouts=(noon, long, Window("0 1 * * *", timedelta(hours=1))))
        ),
    )
    assert wait_of(verdicts, one) == Wait(
        WaitCode.BLACKOUT,
        "nothing starts in the blackout window (0 11 * * *, UTC)",
        datetime(2026, 3, 4, 14, tzinfo=UTC),
    )
    assert names(
        [one],
        circumstances(rules=AdmissionRules(blackouts=(Window("0 1 * * *", timedelta(hours=1)),))),
    ) == ["a"]


def test_the_quota_of_the_published_variant_is_the_fleets_gb_hours() -> None:
    one = candidate()
    rules = AdmissionRules(
        scorer=Scorer.AUTOCOMP_QUOTA, fleet=Budget(gb_hours_per_day=100.0, name="the fleet")
    )
    (verdict,) = admit(
        [one], circumstances(rules=rules, spending=Spending(TODAY, {("lake", ""): Charge(0, 50.0)}))
    )
    assert dict(verdict.score.terms)["gain_weight"] == 0.75


# -- properties

BUDGETS = st.builds(
    Budget,
    max_jobs=st.none() | st.integers(0, 5),
    bytes_per_day=st.none() | st.integers(0, 20_000),
    gb_hours_per_day=st.none() | st.floats(0, 20),
    name=st.just("the fleet"),
)
POLICY_BUDGETS = st.sampled_from(
    [None, Budget(gb_hours_per_day=5.0, name="p"), Budget(max_jobs=1, bytes_per_day=4000, name="q")]
)
CANDIDATES = st.lists(
    st.builds(
        candidate,
        st.sampled_from("abcdefgh"),
        st.sampled_from([FILES, MANIFESTS, EXPIRY]),
        files=st.integers(0, 1000),
        gb_hours=st.floats(0, 10),
        size=st.integers(0, 9000),
        priority=st.integers(0, 100),
        waiting=st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
        basis=st.sampled_from(CostBasis),
        urgent=st.booleans(),
        catalog=st.sampled_from(["lake", "other"]),
        budget=POLICY_BUDGETS,
    ),
    max_size=14,
    unique_by=lambda one: (one.table_uuid, one.rule, one.table.catalog),
)
SPENT = st.dictionaries(
    st.tuples(st.sampled_from(["lake", "other"]), st.sampled_from(["", "p", "q"])),
    st.builds(Charge, st.floats(0, 9000), st.floats(0, 9)),
    max_size=3,
)
GIVEN = st.builds(
    lambda places, scorer, fleet, lake, running, spent: circumstances(
        places,
        rules=AdmissionRules(
            scorer=scorer, fleet=fleet, per_catalog={"lake": replace(lake, name="catalog lake")}
        ),
        running=tuple(running),
        spending=Spending(TODAY, spent),
    ),
    st.integers(-2, 8),
    st.sampled_from(Scorer),
    BUDGETS,
    BUDGETS,
    st.lists(
        st.builds(
            Running,
            st.sampled_from(["uuid-a", "uuid-b", "uuid-z"]),
            st.sampled_from([LAKE, replace(LAKE, catalog="other")]),
            st.sampled_from(["", "p"]),
        ),
        max_size=4,
    ),
    SPENT,
)


def is_within(
    budget: Budget, jobs: int, before: Charge, added: Charge, *, has_started: bool
) -> bool:
    """What is over already may stay so, but nothing is added to it."""
    if not has_started:
        return True
    return (
        (budget.max_jobs is None or jobs <= budget.max_jobs)
        and (
            budget.bytes_per_day is None
            or before.bytes + added.bytes <= budget.bytes_per_day * (1 + 1e-9)
        )
        and (
            budget.gb_hours_per_day is None
            or before.gb_hours + added.gb_hours <= budget.gb_hours_per_day * (1 + 1e-9)
        )
    )


def cost_of(candidates: Sequence[Candidate]) -> Charge:
    return Charge(
        float(sum(one.bytes_rewritten for one in candidates)),
        sum(one.cost.gb_hours_p90 for one in candidates),
    )


@settings(max_examples=examples(150))
@given(CANDIDATES, GIVEN)
def test_no_budget_is_exceeded_no_table_has_two_and_every_candidate_has_one_verdict(
    candidates: list[Candidate], given: AdmissionCircumstances
) -> None:
    verdicts = admit(candidates, given)
    started = admitted(verdicts)
    assert Counter(id(verdict.candidate) for verdict in verdicts) == Counter(
        id(one) for one in candidates
    )
    assert len(started) <= max(0, given.free_slots[DEFAULT_POOL])
    assert len(
        {one.table_uuid for one in started} | {running.table_uuid for running in given.running}
    ) == len(started) + len({running.table_uuid for running in given.running})
    rules, spending = given.rules, given.spending
    assert is_within(
        rules.fleet,
        len(started) + len(given.running),
        spending.total,
        cost_of(started),
        has_started=bool(started),
    )
    of_lake = [one for one in started if one.table.catalog == "lake"]
    running_in_lake = sum(running.table.catalog == "lake" for running in given.running)
    assert is_within(
        rules.per_catalog["lake"],
        len(of_lake) + running_in_lake,
        spending.of_catalog("lake"),
        cost_of(of_lake),
        has_started=bool(of_lake),
    )
    for budget in {one.budget for one in started if one.budget is not None}:
        own = [one for one in started if one.budget == budget]
        running_of_it = sum(running.policy == budget.name for running in given.running)
        assert is_within(
            budget,
            len(own) + running_of_it,
            spending.of_policy(budget.name),
            cost_of(own),
            has_started=True,
        )


@settings(max_examples=examples(100))
@given(CANDIDATES, GIVEN, st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_does_not_matter(
    candidates: list[Candidate], given: AdmissionCircumstances, random: object
) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert admit(shuffled, given) == admit(candidates, given)


@settings(max_examples=examples(150))
@given(CANDIDATES.filter(bool), GIVEN, st.integers(0, 100), st.data())
def test_raising_a_priority_never_moves_an_action_later(
    candidates: list[Candidate], given: AdmissionCircumstances, priority: int, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(candidates) - 1))
    chosen = candidates[position]
    raised = replace(chosen, priority=max(chosen.priority, priority))
    before = admit(candidates, given)
    after = admit([*candidates[:position], raised, *candidates[position + 1 :]], given)
    rank_before = next(rank for rank, verdict in enumerate(before) if verdict.candidate is chosen)
    rank_after = next(rank for rank, verdict in enumerate(after) if verdict.candidate is raised)
    assert rank_after <= rank_before
    assert after[rank_after].is_admitted or not before[rank_before].is_admitted


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(
    st.lists(
        st.tuples(st.integers(1, 100_000), st.floats(0.01, 4.0), st.integers(25, 75)),
        min_size=2,
        max_size=20,
    ),
    st.integers(1, 3),
)
def test_with_a_budget_that_suffices_on_average_everybody_starts_in_the_end(
    works: list[tuple[int, float, int]], places: int
) -> None:
    """Each table wants work again as soon as its job is done; places are free again every hour."""
    budget = max(5.0, 1.3 * sum(gb_hours for _, gb_hours, _ in works) / 2)
    rules = AdmissionRules(fleet=Budget(gb_hours_per_day=budget, name="the fleet"))
    since = dict.fromkeys(range(len(works)), NOW)
    longest, spent, today = timedelta(0), Charge(), NOW.date()
    for hour in range(24 * 25):
        now = NOW + timedelta(hours=hour)
        if now.date() != today:
            spent, today = Charge(), now.date()
        waiting = [
            replace(
                candidate(
                    f"t{number:03}",
                    files=files,
                    gb_hours=gb_hours,
                    priority=priority,
                    waiting=timedelta(0),
                ),
                waiting_since=since[number],
            )
            for number, (files, gb_hours, priority) in enumerate(works)
        ]
        given = AdmissionCircumstances(
            now, {DEFAULT_POOL: places}, rules, spending=Spending("", {("lake", ""): spent})
        )
        for one in admitted(admit(waiting, given)):
            number = int(one.table.name[1:])
            longest = max(longest, now - since[number])
            since[number] = now + timedelta(minutes=1)
            spent += cost_of([one])
    longest = max(longest, *(NOW + timedelta(days=25) - begun for begun in since.values()))
    # The worths differ by up to nine decades, each of which a day of waiting outweighs.
    assert longest <= timedelta(days=12)


def test_choosing_keeps_the_order_of_the_ranks_where_an_owner_waits_for_others() -> None:
    """Of an owner with its fair share, the second table is judged after another owner's."""
    candidates = [candidate("a"), candidate("b"), candidate("c", catalog="other")]
    given = circumstances(3)
    assert [str(one.candidate.table.name) for one in choose(candidates, given)] == ["a", "b", "c"]
    assert choose(candidates, given) == admit(candidates, given)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(CANDIDATES, GIVEN)
def test_choosing_starts_the_very_ones_that_are_admitted_with_the_same_scores(
    candidates: list[Candidate], given: AdmissionCircumstances
) -> None:
    assert choose(candidates, given) == tuple(
        verdict for verdict in admit(candidates, given) if verdict.is_admitted
    )


@pytest.mark.parametrize(
    "given",
    [
        circumstances(places=0),
        circumstances(scope_pauses=(ScopePause("*", "ann", NOW),)),
        circumstances(rules=AdmissionRules(blackouts=(Window("0 12 * * *", timedelta(hours=1)),))),
        replace(limited(max_jobs=1), running=(Running("u", LAKE, FILES),)),
        limited(spent=Charge(0, 5.0), gb_hours_per_day=5.0),
    ],
)
def test_when_nothing_could_start_no_candidate_is_read(given: AdmissionCircumstances) -> None:
    assert is_shut(given)
    assert choose([candidate()], given) == ()
    assert not is_shut(circumstances(scope_pauses=(ScopePause("lake.*", "ann", NOW),)))


# -- what admission sees of plans and jobs


def plan_of(*planned: PlannedAction) -> Plan:
    return Plan(
        TableIdentifier("lake", ("a",), "t"),
        "uuid-t",
        1,
        "m",
        "v",
        Mode.ENFORCE,
        70,
        NOW,
        planned,
        (),
        Budget(name="p"),
        is_urgent=True,
    )


PLANNED = PlannedAction(
    FILES,
    RewriteDataFiles(),
    (),
    Estimate(100, 10, 90, 10**9),
    "",
    Cost(1.0, 2.0, 60.0),
    worth=Worth(Benefit(value=90.0)),
)


def test_a_candidate_is_a_plans_action_without_the_action() -> None:
    waited = replace(
        PLANNED, rule=MANIFESTS, action=RewriteManifests(0), waiting_since=NOW - timedelta(hours=3)
    )
    first, second = find_candidates(plan_of(PLANNED, waited))
    assert (first.rule, first.bytes_rewritten, first.priority, first.is_urgent, first.budget) == (
        FILES,
        10**9,
        70,
        True,
        Budget(name="p"),
    )
    assert (first.waiting_since, second.waiting_since) == (NOW, NOW - timedelta(hours=3))


@pytest.mark.parametrize("old", [replace(PLANNED, cost=None), replace(PLANNED, worth=None)])
def test_a_plan_of_an_earlier_version_has_no_candidates(old: PlannedAction) -> None:
    assert find_candidates(plan_of(old)) == ()


def test_an_unfinished_job_counts_for_its_table_catalog_and_budget() -> None:
    job = replace(make_job(), charged_to="policies/cdc.yaml")
    assert running_of(job) == Running(job.table_uuid, job.table, job.rule, "policies/cdc.yaml")


def test_a_table_that_was_replaced_is_not_submitted_to() -> None:
    health = health_of_partitions({})
    assert check_before_submit(RewriteDataFiles(), health, UUID) is None
    refusal = check_before_submit(RewriteDataFiles(), health, "another")
    assert refusal is not None
    assert "its UUID was another" in refusal


def test_expiry_is_not_submitted_to_a_table_that_forbids_deleting() -> None:
    health = health_of_partitions({}, properties={"gc.enabled": "FALSE"})
    refusal = check_before_submit(ExpireSnapshots(NOW, 10), health, UUID)
    assert refusal == "the table has gc.enabled=false since this was planned"
    assert check_before_submit(RewriteDataFiles(), health, UUID) is None


# -- budgets that are spent


FLEET = Budget(bytes_per_day=1000, gb_hours_per_day=10.0, name="the fleet")


def spent_of(
    *candidates: Candidate, spent: Charge, rules: AdmissionRules | None = None
) -> list[tuple[str, Resource, int]]:
    looked = circumstances(
        rules=rules or AdmissionRules(fleet=FLEET), spending=Spending(TODAY, {("lake", ""): spent})
    )
    return [
        (one.state.name, one.state.resource, one.waiting) for one in find_spent(candidates, looked)
    ]


def test_a_budget_is_spent_when_none_of_those_that_it_could_bear_fits_today() -> None:
    two = (candidate("a", gb_hours=1.0, size=1), candidate("b", gb_hours=2.0, size=1))
    assert spent_of(*two, spent=Charge(0, 7.0)) == []
    assert spent_of(*two, spent=Charge(0, 8.0)) == [("the fleet", Resource.GB_HOURS_PER_DAY, 2)], (
        "of 10 all but the reserve of 1.5 is open"
    )
    assert spent_of(*two, spent=Charge(1000, 0.0)) == [("the fleet", Resource.BYTES_PER_DAY, 2)]


def test_what_no_day_could_bear_says_nothing_of_the_budget() -> None:
    assert spent_of(candidate(gb_hours=100.0, size=1), spent=Charge(0, 1.0)) == []


def test_a_budget_that_is_used_up_is_spent_even_when_nobody_waits() -> None:
    assert spent_of(spent=Charge(0, 10.0)) == [("the fleet", Resource.GB_HOURS_PER_DAY, 0)]
    nothing = AdmissionRules(fleet=Budget(gb_hours_per_day=0.0, name="the fleet"))
    assert spent_of(spent=Charge(), rules=nothing) == [], "a budget of nothing is no news"


def test_catalogs_and_policies_have_budgets_that_are_spent_too() -> None:
    own = Budget(gb_hours_per_day=1.0, name="policies/a.yaml")
    rules = AdmissionRules(per_catalog={"lake": Budget(gb_hours_per_day=1.0, name="catalog lake")})
    looked = circumstances(
        rules=rules, spending=Spending(TODAY, {("lake", "policies/a.yaml"): Charge(0, 0.9)})
    )
    found = find_spent([candidate(gb_hours=0.5, budget=own), candidate("b", gb_hours=0.5)], looked)
    assert [(one.state.name, one.waiting) for one in found] == [
        ("catalog lake", 2),
        ("policies/a.yaml", 1),
    ]
    assert found[0].state.frees_at == datetime(2026, 3, 5, tzinfo=UTC)


def test_those_that_start_have_the_published_score_among_all_candidates() -> None:
    given_rules = circumstances(places=1, rules=AdmissionRules(scorer=Scorer.AUTOCOMP))
    everyone = [candidate("a", files=10), candidate("b", files=900), candidate("c", files=500)]
    (chosen,) = choose(everyone, given_rules)
    assert chosen == next(
        verdict for verdict in admit(everyone, given_rules) if verdict.is_admitted
    )


def test_those_that_start_are_found_without_the_others_while_slots_are_left() -> None:
    everyone = [candidate("a"), candidate("b", files=900), candidate("b", MANIFESTS)]
    for given_slots in (circumstances(places=1), circumstances(places=9)):
        decisions = admit(everyone, given_slots)
        assert choose(everyone, given_slots) == tuple(one for one in decisions if one.is_admitted)


def test_each_daily_limit_of_the_fleet_and_of_catalogs_is_listed_with_what_is_spent() -> None:
    spending = Spending(TODAY, {("lake", ""): Charge(100.0, 2.0), ("sea", "p"): Charge(50.0, 1.0)})
    rules = AdmissionRules(
        fleet=Budget(bytes_per_day=1000, max_jobs=3, name="the fleet"),
        per_catalog={"sea": Budget(gb_hours_per_day=4.0, name="catalog sea")},
    )
    assert rules.list_budgets(spending) == (
        BudgetState("the fleet", Resource.BYTES_PER_DAY, 1000.0, 150.0),
        BudgetState("catalog sea", Resource.GB_HOURS_PER_DAY, 4.0, 1.0),
    )
