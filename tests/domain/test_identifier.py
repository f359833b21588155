from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, TablePattern, split_levels

LEVELS = st.text(min_size=1, max_size=12)


@given(
    st.builds(TableIdentifier, LEVELS, st.lists(LEVELS, min_size=1, max_size=3).map(tuple), LEVELS)
)
def test_every_identifier_reads_back_from_its_text(table: TableIdentifier) -> None:
    assert TableIdentifier.parse(str(table)) == table


@given(st.lists(LEVELS, min_size=1, max_size=3).map(tuple))
def test_a_namespace_text_splits_into_its_levels(namespace: tuple[str, ...]) -> None:
    assert split_levels(TableIdentifier("c", namespace, "t").namespace_text) == namespace


def test_plain_names_are_written_plainly() -> None:
    assert str(TableIdentifier("lake", ("a", "b"), "orders_2026")) == "lake.a.b.orders_2026"


def test_a_backtick_in_a_name_is_doubled() -> None:
    table = TableIdentifier("lake", ("a`b",), "orders")
    assert str(table) == "lake.`a``b`.orders"
    assert TableIdentifier.parse("lake.`a``b`.orders") == table


@pytest.mark.parametrize(
    "text", ["", "a", "a.b", "a..b", ".a.b", "a.b.", "a.`b.c", "a.`b`c.d", "a.``.c"]
)
def test_a_malformed_name_is_refused_with_the_name_in_the_error(text: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        TableIdentifier.parse(text)
    assert repr(text) in str(caught.value)


def test_globs_match_whole_names_and_exact_names_only_themselves() -> None:
    table = TableIdentifier("lake", ("sales",), "orders")
    assert TablePattern("lake.sales.*").matches(table)
    assert TablePattern("*").matches(table)
    assert TablePattern("lake.sales.orders").matches(table)
    assert not TablePattern("lake.sales.order").matches(table)
    assert not TablePattern("sales.*").matches(table)


@pytest.mark.parametrize(
    ("bound", "pattern", "is_contained"),
    [
        ("lake.sales.*", "lake.sales.orders", True),
        ("lake.sales.*", "lake.sales.*", True),
        ("lake.sales.*", "lake.sales.eu.?rders_[a-z]", True),
        ("lake.*.raw_*", "lake.sales.raw_?", True),
        ("*", "*", True),
        ("lake.sales.orders", "lake.sales.orders", True),
        ("lake.sales.*", "lake.sales", False),
        ("lake.sales.*", "lake.sales_secret.orders", False),
        ("lake.sales.*", "lake.*", False),
        ("lake.sales.*", "lake.sale?.orders", False),
        ("lake.sales.*", "lake.[s]ales.orders", False),
        ("*.s*", "lake.[st]", False),
        ("*]*", "lake.[st]", False),
        ("lake.sales.orders", "lake.sales.order?", False),
    ],
)
def test_a_bound_contains_the_globs_that_select_nothing_beyond_it(
    bound: str, pattern: str, *, is_contained: bool
) -> None:
    assert TablePattern(bound).contains(TablePattern(pattern)) is is_contained


def test_specificity_orders_wide_before_narrow_and_exact_last() -> None:
    patterns = [
        TablePattern(text)
        for text in ("lake.sales.orders", "lake.sales.*", "lake.*", "*", "lake.sales.ord*")
    ]
    ordered = [pattern.text for pattern in sorted(patterns, key=lambda p: p.specificity)]
    assert ordered == ["*", "lake.*", "lake.sales.*", "lake.sales.ord*", "lake.sales.orders"]
