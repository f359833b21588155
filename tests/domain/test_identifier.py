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


def test_specificity_orders_wide_before_narrow_and_exact_last() -> None:
    patterns = [
        TablePattern(text)
        for text in ("lake.sales.orders", "lake.sales.*", "lake.*", "*", "lake.sales.ord*")
    ]
    ordered = [pattern.text for pattern in sorted(patterns, key=lambda p: p.specificity)]
    assert ordered == ["*", "lake.*", "lake.sales.*", "lake.sales.ord*", "lake.sales.orders"]
