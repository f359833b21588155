from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.waiting.postponement import MOST_NAMED, refuse_shared
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import Registration, TableIdentifier
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Policy
from maintainer.measure.health import measure
from tests.samples import NOW, inventory

OTHER = TableIdentifier("old", ("sales",), "orders")
HOUR = timedelta(hours=1)


@pytest.fixture
def health() -> TableHealth:
    return replace(measure(inventory(())), newest_snapshot_at=NOW)


@pytest.mark.parametrize(
    ("is_owner", "other", "reason"),
    [
        (
            False,
            Registration(OTHER, is_owner=False, newest_snapshot_at=NOW),
            "write `owner: true` in a policy",
        ),
        (
            False,
            Registration(OTHER, is_owner=True, newest_snapshot_at=NOW),
            "it is maintained as old.sales.orders",
        ),
        (
            True,
            Registration(OTHER, is_owner=True, newest_snapshot_at=NOW),
            "policies name several owners",
        ),
        (
            True,
            Registration(OTHER, is_owner=False, newest_snapshot_at=NOW + HOUR),
            "old.sales.orders has newer commits",
        ),
        (True, Registration(OTHER, is_owner=False, newest_snapshot_at=NOW), None),
        (True, Registration(OTHER, is_owner=False, newest_snapshot_at=NOW - HOUR), None),
        (True, Registration(OTHER, is_owner=False), None),
    ],
)
def test_only_the_one_owner_that_is_not_behind_is_worked_on(
    health: TableHealth, is_owner: bool, other: Registration, reason: str | None
) -> None:
    refusal = refuse_shared(health, Policy(is_owner=is_owner), (other,))
    if reason is None:
        assert refusal is None
        return
    assert refusal is not None
    assert refusal.code is SkipCode.UNSAFE
    assert reason in refusal.reason
    assert refusal.reason.startswith("the table is registered as old.sales.orders too: ")


def test_a_table_with_one_name_is_not_refused(health: TableHealth) -> None:
    assert refuse_shared(health, Policy(), ()) is None


def test_an_owner_without_a_snapshot_is_behind_a_name_that_has_one(health: TableHealth) -> None:
    refusal = refuse_shared(
        replace(health, newest_snapshot_at=None),
        Policy(is_owner=True),
        (Registration(OTHER, is_owner=False, newest_snapshot_at=NOW),),
    )
    assert refusal is not None
    assert "has newer commits" in refusal.reason


def test_many_names_are_counted(health: TableHealth) -> None:
    others = tuple(
        Registration(replace(OTHER, name=f"t{number}"), is_owner=False)
        for number in range(MOST_NAMED + 2)
    )
    refusal = refuse_shared(health, Policy(), others)
    assert refusal is not None
    assert refusal.reason.startswith(
        "the table is registered as old.sales.t0, old.sales.t1, old.sales.t2, old.sales.t3, "
        "old.sales.t4 and 2 others too: "
    )
