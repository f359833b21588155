"""rewrite_manifests and expire_snapshots."""

from __future__ import annotations

from re import MULTILINE, findall

import pytest

from tests.conformance import expiry, manifests
from tests.conformance.expiry import PASTS, Past
from tests.conformance.manifests import PILES, Pile
from tests.conformance.report import PAGE
from tests.conformance.tables import Lake

BOUNDED = frozenset({"more manifests needed than partitions"})
spark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("conformance"),
    pytest.mark.timeout(600),
]


@pytest.mark.parametrize(
    ("number", "pile"),
    [pytest.param(number, pile, id=pile.name, marks=spark) for number, pile in enumerate(PILES)],
)
def test_spark_makes_as_many_manifests_as_were_predicted(
    lake: Lake, number: int, pile: Pile
) -> None:
    outcome = manifests.run_one(lake, pile, f"m{number}")
    assert outcome.is_within_bound if pile.name in BOUNDED else outcome.is_equal, outcome.row()


@pytest.mark.parametrize(
    ("number", "past"),
    [pytest.param(number, past, id=past.name, marks=spark) for number, past in enumerate(PASTS)],
)
def test_spark_leaves_the_snapshots_and_refs_that_were_predicted(
    lake: Lake, number: int, past: Past
) -> None:
    outcome = expiry.run_one(lake, past, f"e{number}")
    assert outcome.is_equal, outcome.row()


def test_the_page_lists_them_in_order() -> None:
    rows = findall(r"^\| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), MULTILINE)
    names = [pile.name for pile in PILES] + [past.name for past in PASTS]
    assert [row for row in rows if row in names] == names
