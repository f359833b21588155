"""Which conditions fit a table's columns, and what is refused with which words."""

from __future__ import annotations

import pytest

from maintainer.domain.condition import parse_condition
from maintainer.domain.condition_types import ColumnTypes, find_type_problem
from maintainer.domain.identifier import TableIdentifier
from tests.conditions import FITTING, UNFIT

COLUMNS: ColumnTypes = (
    (("id",), "long"),
    (("number",), "int"),
    (("price",), "decimal(9, 2)"),
    (("share",), "double"),
    (("Name",), "string"),
    (("flag",), "boolean"),
    (("day",), "date"),
    (("at",), "timestamp"),
    (("local",), "timestamp"),
    (("raw",), "binary"),
    (("tags",), "list"),
    (("more",), "map"),
    (("place",), "struct"),
    (("place", "city"), "string"),
)
TABLE = TableIdentifier("lake", ("ns",), "t")
# Those that Spark cannot declare, or reads otherwise.
ODD: ColumnTypes = (
    (("key",), "uuid"),
    (("hash",), "fixed[16]"),
    (("shape",), "geometry"),
    (("twice",), "int"),
    (("TWICE",), "string"),
)


@pytest.mark.parametrize("text", ["true", *FITTING])
def test_what_iceberg_can_filter_fits(text: str) -> None:
    assert find_type_problem(parse_condition(text), COLUMNS, TABLE) is None


def test_a_name_of_another_table_in_front_is_no_column() -> None:
    for name in ("x.id", "t.nothing", "ns.id", "other.t.id"):
        found = find_type_problem(parse_condition(f"{name} = 1"), COLUMNS, TABLE)
        assert found is not None
        assert f"names the column {name} at" in found
    assert find_type_problem(parse_condition("t.id = 1"), COLUMNS) is not None, "of no table"


@pytest.mark.parametrize(("text", "problem"), UNFIT.items())
def test_what_iceberg_cannot_filter_is_refused_with_its_place(text: str, problem: str) -> None:
    found = find_type_problem(parse_condition(text), COLUMNS)
    assert found is not None
    assert problem in found


@pytest.mark.parametrize(
    "text",
    [
        "key = 'c0ffee00-0000-0000-0000-000000000000' AND hash = X'00'",
        "shape = 1 AND shape LIKE 'a%' AND CAST(shape AS DATE) = DATE '2026-01-01'",
        "twice = 1 AND twice = 'a' AND CAST(twice AS DATE) = 5",
    ],
)
def test_what_is_not_known_fits(text: str) -> None:
    assert find_type_problem(parse_condition(text), ODD) is None
