"""The table list by need: the worst band first, and within a band what maintenance is good for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.adapters.store.need import write_benefit
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.cost import Benefit, Cost, Worth
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, PlannedAction, SkipCode, SkippedRule
from maintainer.domain.policy import RuleName
from maintainer.estimate.score import standing_score
from maintainer.ports.store import Store
from maintainer.ports.store.tables import TableQuery
from tests.adapters.store.values import make_grade, make_health, make_plan

WORST_FIRST = TableQuery(sort="band", descending=True)
COST = Cost(1.0, 1.0, 9.0)


def named(name: str) -> TableIdentifier:
    return TableIdentifier("lake", ("sales",), name)


def measure(store: Store, name: str, band: Band, table_uuid: str = "") -> None:
    store.record_health(make_health(named(name), table_uuid or f"u-{name}"), make_grade(band))


def plan(store: Store, name: str, benefit: float, *, is_held_back: bool = False) -> None:
    worth = Worth(Benefit(value=benefit))
    score, estimate = standing_score(worth, COST), Estimate(10, 1, 9, 1000)
    made = make_plan(named(name), f"u-{name}")
    if is_held_back:
        held = SkippedRule(
            RuleName.REWRITE_DATA_FILES,
            SkipCode.OBSERVE_ONLY,
            "observed",
            estimate=estimate,
            cost=COST,
            score=score,
        )
        store.record_plan(replace(made, skipped=(held,)))
        return
    wanted = PlannedAction(
        RuleName.REWRITE_DATA_FILES,
        RewriteDataFiles(),
        (),
        estimate,
        "small files",
        COST,
        score,
        worth,
    )
    store.record_plan(replace(made, planned=(wanted,)))


def read(store: Store, query: TableQuery = WORST_FIRST) -> list[str]:
    found, page = [], store.tables(query)
    found += [record.table.name for record in page.items]
    while page.next_cursor:
        page = store.tables(replace(query, cursor=page.next_cursor))
        found += [record.table.name for record in page.items]
    return found


def fill(store: Store) -> None:
    """Two bands with gains against the alphabet, one table without a plan, one with a gain that is
    held back, and two equal ones.
    """
    for name, band in (
        ("z8", Band.CRITICAL),
        ("a9852", Band.CRITICAL),
        ("b0", Band.CRITICAL),
        ("m500", Band.CRITICAL),
        ("c2", Band.WATCH),
        ("d2", Band.WATCH),
    ):
        measure(store, name, band)
    measure(store, "huge", Band.HEALTHY)
    plan(store, "z8", 8)
    plan(store, "a9852", 9852)
    plan(store, "m500", 500.5, is_held_back=True)
    plan(store, "c2", 2)
    plan(store, "d2", 2)
    plan(store, "huge", 1e30)


def test_within_a_band_the_greatest_benefit_comes_first_held_back_or_not(store: Store) -> None:
    fill(store)
    expected = ["a9852", "m500", "z8", "b0", "c2", "d2", "huge"]
    assert read(store) == expected
    assert read(store, TableQuery(sort="band")) == expected[::-1]
    assert read(store, replace(WORST_FIRST, band=Band.CRITICAL)) == expected[:4]
    assert read(store, replace(WORST_FIRST, catalog="lake", namespace="sales")) == expected


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_pages_are_the_same_list(store: Store, limit: int) -> None:
    fill(store)
    for query in (
        WORST_FIRST,
        TableQuery(sort="band"),
        replace(WORST_FIRST, band=Band.WATCH),
        replace(WORST_FIRST, catalog="lake"),
    ):
        assert read(store, replace(query, limit=limit)) == read(store, query)


def test_a_new_plan_and_a_new_band_move_a_table(store: Store) -> None:
    fill(store)
    plan(store, "z8", 10_000)
    assert read(store)[:2] == ["z8", "a9852"]
    measure(store, "z8", Band.WATCH)
    assert read(store)[3:6] == ["z8", "c2", "d2"], "its benefit is still known"
    plan(store, "z8", 0)
    assert read(store)[3:6] == ["c2", "d2", "z8"]


def test_another_table_of_the_name_has_no_benefit_yet(store: Store) -> None:
    fill(store)
    measure(store, "a9852", Band.CRITICAL, "another")
    assert read(store)[:4] == ["m500", "z8", "a9852", "b0"]


@pytest.mark.parametrize(
    ("benefit", "written"),
    [
        (0.0, 0),
        (-3.0, 0),
        (float("nan"), 0),
        (0.25, 250),
        (1e300, 10**18 - 1),
        (float("inf"), 10**18 - 1),
        (9852.0, 9_852_000),
    ],
)
def test_a_benefit_fits_into_its_band(benefit: float, written: int) -> None:
    assert write_benefit(benefit) == written
