from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.estimate.filters.conditions import Comparison, Kind, Operator, Value, read_conjuncts
from tests.conditions import CONDITIONS
from tests.examples import examples

ONE = Value(Kind.NUMBER, number=Decimal(1))
DAY = timedelta(days=1)


def compares(column: str, operator: str, *values: Value) -> Comparison:
    return Comparison((column,), Operator(operator), values)


def today(days: int) -> Value:
    return Value(Kind.TODAY, offset=days * DAY)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a = 1", compares("a", "=", ONE)),
        ("A < 1", compares("a", "<", ONE)),
        ("a <= 1L", compares("a", "<=", ONE)),
        ("((a > 1))", compares("a", ">", ONE)),
        ("a>=-1.50", compares("a", ">=", Value(Kind.NUMBER, number=Decimal("-1.50")))),
        ("1 < a", compares("a", ">", ONE)),
        ("1 = a", compares("a", "=", ONE)),
        ("`a``b` = 'x y'", compares("a`b", "=", Value(Kind.TEXT, "x y"))),
        (
            "nested.`Key` = 'x'",
            Comparison(("nested", "key"), Operator.EQUAL, (Value(Kind.TEXT, "x"),)),
        ),
        ("a IS NULL", compares("a", "is null")),
        ("a is not null", compares("a", "is not null")),
        ("a IN (1, 'x')", compares("a", "in", ONE, Value(Kind.TEXT, "x"))),
        (
            "a IN (date_sub(current_date(), 1), DATE '2026-01-01')",
            compares("a", "in", today(-1), Value(Kind.DATE, "2026-01-01")),
        ),
        (
            "a = timestamp_ntz '2026-01-01'",
            compares("a", "=", Value(Kind.TIMESTAMP_NTZ, "2026-01-01")),
        ),
        ("a < current_date", compares("a", "<", today(0))),
        ("a < curdate() - 7", compares("a", "<", today(-7))),
        ("a < current_date() + INTERVAL '1' DAY", compares("a", "<", today(1))),
        ("a < current_date - interval 48 hours", compares("a", "<", today(-2))),
        ("date_add(current_date, 3) > a", compares("a", "<", today(3))),
        ("a < now()", compares("a", "<", Value(Kind.NOW))),
        (
            "a < current_timestamp - INTERVAL 30 MINUTES",
            compares("a", "<", Value(Kind.NOW, offset=timedelta(minutes=-30))),
        ),
    ],
)
def test_a_comparison_with_a_known_value_is_recognised(text: str, reported: Comparison) -> None:
    assert read_conjuncts(text) == (reported,)


def test_the_parts_of_an_and_are_recognised_one_by_one() -> None:
    first, second, third = (
        compares("a", ">=", ONE),
        compares("a", "<=", Value(Kind.NUMBER, number=Decimal(9))),
        compares("b", "=", ONE),
    )
    assert read_conjuncts("a BETWEEN 1 AND 9 AND b = 1") == (first, second, third)
    assert read_conjuncts("b = 1 and (a >= 1 AND (a <= 9))") == (third, first, second)
    assert read_conjuncts("a LIKE 'X%' AND b = 1") == (None, third)
    assert read_conjuncts("(a = 1 OR a = 2) AND b = 1 AND (c)") == (None, third, None)
    assert read_conjuncts("lake.system.bucket(4, a) IN (3) AND b = 1") == (None, third)
    assert read_conjuncts("(a) = 1 AND b = 1 AND (2) < (a)") == (None, third, None)
    assert read_conjuncts("a < 1 + 2 AND b = 1 AND date(a) = 1") == (None, third, None)
    assert read_conjuncts("a IS NOT NULL AND b = 1") == (compares("a", "is not null"), third)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", ("a "
            "AND"), ("a = 1 "
            "OR b = 2"), ("NOT "
            "a = 1"), ("a "
            "<> 1"), (
            "a "
            "!= 1"
        ), (
            "a "
            "<=> 1"
        ), (
            "! "
            "a = 1"
        ), "a NOT IN (1)", "a IN (b)", "a IN ()", "a IS TRUE"),
        *(("a "
            "= b"), ("a = "
            "1 + 1"), ("a = "
            "'it\\'s'"), ('a '
            '= "x"'), ("a = "
            "'x' 'y'"), (
            "a "
            "= 1e3"
        ), (
            "a = "
            "1.5f"
        ), (
            "a LIKE "
            "'x%'"
        ), "a BETWEEN 1", "a BETWEEN b AND c", "1 < 2"),
        *(("1 = "
            "a + 1"), ("1 "
            "<> a"), ("CASE WHEN a "
            "= 1 THEN b END"), ("lake.system.bucket(4, "
            "a) = 3"), (
            "DATE "
            "'2026-01-01'"
        ), "a = X'00'", "a < current_date() - b"),
        *(("a < current_date "
            "- INTERVAL 1 HOUR"), ("a < current_date "
            "- INTERVAL -1 DAY"), (
            "a < "
            "current_date * 2"
        ), "a < current_date - INTERVAL 1 MONTH"),
        *(("a "
            "< now"), ("a < "
            "now() - 1"), ("a < "
            "date_sub(now(), 1)"), ("a < "
            "date_sub(current_date(), b)"), (
            "a < current_date "
            "- 9999999"
        ), "a < date_add(a, 1)"),
        *("current_date", ("a "
            "= 1)"), ("a = "
            "1 -- b"), ("a = "
            "(SELECT 1)"), ("a = "
            "now() now()"), (
            "a < current_date "
            "- INTERVAL 'x' DAYS"
        ), "a < DATE 2026", "a = -'1'"),
    ],
)  # fmt: skip
def test_everything_else_is_not_reported_and_never_refused(text: str) -> None:
    assert set(read_conjuncts(text)) <= {None} or text == "a AND"
    assert None in read_conjuncts(text)


@given(
    st.lists(
        st.sampled_from(
            [
                *"()<>=,.-`'",
                "a",
                "AND",
                "OR",
                "BETWEEN",
                "IN",
                "IS",
                "NULL",
                "NOT",
                "1",
                "'x'",
                "current_date",
                "INTERVAL",
                "DAY",
                "DATE",
            ]
        )
    )
)
@settings(max_examples=examples(200))
def test_any_text_is_read(words: list[str]) -> None:
    assert read_conjuncts(" ".join(words))


def test_every_condition_that_policies_may_have_is_read() -> None:
    for text in CONDITIONS:
        assert read_conjuncts(text)
