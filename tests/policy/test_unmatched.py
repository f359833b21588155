"""A policy whose patterns select no table is named, as far as the tables are known."""

from __future__ import annotations

import pytest

from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import PolicyLayer, PolicyProblem
from maintainer.policy import unmatched
from maintainer.policy.unmatched import find_unmatched

ORDERS = TableIdentifier.parse("lake.shop.orders")


def find(*patterns: str, listed: tuple[str, ...] = ("lake", "sea")) -> list[PolicyProblem]:
    layer = PolicyLayer("shop.yaml", tuple(map(TablePattern, patterns)), {})
    return list(find_unmatched([layer], [ORDERS], ["lake", "sea"], listed))


@pytest.mark.parametrize("pattern", ["lake.shop.orders", "lake.*", "*", "*.shop.*", "l[ab]ke.*"])
def test_nothing_is_said_of_a_pattern_that_selects_a_table(pattern: str) -> None:
    assert find(pattern) == []


def test_a_mistyped_name_is_a_problem_with_the_nearest_table() -> None:
    sentence = (
        "tables has 'lake.shop.ordres', which matches no table; did you mean lake.shop.orders?"
    )
    assert find("lake.shop.ordres") == [PolicyProblem("shop.yaml", sentence)]


def test_each_pattern_is_judged_alone() -> None:
    found = find("lake.*", "sea.fish.cod", "lake.hr.*")
    assert [problem.message for problem in found] == [
        "tables has 'sea.fish.cod', which matches no table",
        "tables has 'lake.hr.*', which matches no table",
    ]


def test_a_glob_without_a_table_is_a_note_because_tables_may_come_later() -> None:
    assert [(problem.is_note, problem.message) for problem in find("sea.*")] == [
        (True, "tables has 'sea.*', which matches no table")
    ]


@pytest.mark.parametrize(("pattern", "is_note"), [("my.shop.orders", False), ("my.*", True)])
def test_a_catalog_that_is_not_configured_is_named_before_any_scan(
    pattern: str, is_note: bool
) -> None:
    sentence = f"tables has {pattern!r}, and no catalog 'my' is configured (there is lake, sea)"
    assert find(pattern, listed=()) == [PolicyProblem("shop.yaml", sentence, is_note)]


@pytest.mark.parametrize(
    ("pattern", "listed"),
    [
        ("sea.fish.cod", ("lake",)),
        ("sea.*", ("lake",)),
        ("*.fish.cod", ("lake",)),
        ("`sea`.fish.cod", ("lake",)),
    ],
)
def test_nothing_is_said_of_a_catalog_that_was_never_listed(
    pattern: str, listed: tuple[str, ...]
) -> None:
    assert find(pattern, listed=listed) == []
    assert len(find(pattern)) == 1


def test_a_check_reports_a_limited_number() -> None:
    patterns = [f"lake.hr.table_{number}" for number in range(unmatched.MAX_UNMATCHED + 1)]
    assert len(find(*patterns)) == unmatched.MAX_UNMATCHED
