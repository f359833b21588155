"""What may be a condition, and what is refused in which words."""

from __future__ import annotations

import pytest
from hypothesis import given

from maintainer.domain.condition import (
    CONDITION_FUNCTIONS,
    MAX_CONDITION_CHARACTERS,
    MAX_CONDITION_DEPTH,
    check_condition,
    enclose,
    join_conditions,
)
from maintainer.domain.errors import InvalidValueError
from tests.conditions import CONDITIONS, plain_conditions


@pytest.mark.parametrize("text", CONDITIONS)
def test_what_compares_columns_with_values_is_a_condition(text: str) -> None:
    assert check_condition(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  ", ["has 2 characters", "1 to 10000"]),
        ("a" * (MAX_CONDITION_CHARACTERS + 1), ["has 10001 characters", "1 to 10000"]),
        ("a = '\ud800'", ["surrogate", "UTF-8"]),
        ("a = 1; DROP TABLE t", ["holds ';' at character 6", "outside of quotes"]),
        ("a = 1 -- rest", ["a comment (--) at character 7"]),
        ("a = 1 /* rest */", ["a comment (/*) at character 7"]),
        ("a = 1 /*+ rest", ["a comment (/*)"]),
        ("a */ b", ["a comment (*/)"]),
        ("a = 'open", ["holds a ' at character 5 that is never closed"]),
        ("a = 'open\\'", ["holds a ' at character 5"]),
        ('a = "open', ['holds a " at character 5']),
        ("`a = 1", ["holds a ` at character 1"]),
        ("`` = 1", ["holds a ` at character 1"]),
        (
            r"name = r'\' OR x = ' OR reflect(1) --'",
            ["a raw text (r')", "at character 8", "backslash doubled"],
        ),
        (r"name = R'\'", ["a raw text"]),
        (r"n = 5e+3fR'\'", ["holds '5' at character 5"]),
        ("n = 5e+3SELECT", ["holds '5'"]),
        ("a) OR (b", ["closes a bracket with ) at character 2"]),
        ("a = 1)", ["closes a bracket with ) at character 6"]),
        ("a[0)", ["closes a bracket with ) at character 4"]),
        ("((a = 1)", ["has 1 brackets that are never closed"]),
        ("(" * 51 + "a" + ")" * 51, ["brackets 51 deep at character 51", "50 deep"]),
        (
            "id IN (SELECT id FROM lake.other.t)",
            ["holds 'SELECT' at character 8", "no query", "backticks"],
        ),
        ("a = 1 uNiOn all TABLE t", ["holds 'uNiOn'"]),
        ("exists (FROM t)", ["holds 'FROM'"]),
        ("(VALUES (1))", ["holds 'VALUES'"]),
        ("1 = (MAP 1 USING 'id')", ["holds 'MAP'"]),
        ("(WITH x AS (a) b)", ["holds 'WITH'"]),
        (
            "reflect('java.lang.System', 'exit', '0') = 1",
            ["calls 'reflect' at character 8", "it may call abs,", "years"],
        ),
        ("`reflect`('a', 'b') = 1", ["calls 'reflect'"]),
        ("a = lake.db.f(1)", ["calls 'lake.db.f'"]),
        ("a = `lake`.`system`.ancient(1)", ["calls 'lake.system.ancient'"]),
        ("a = lake.date(1)", ["calls 'lake.date'"]),
        ("a = IDENTIFIER('reflect')('a')", ["calls 'IDENTIFIER'"]),
        ("(a)(b)", ["calls ')'"]),
        ("'a'(b)", ["calls \"'a'\""]),
        ("1 (b)", ["calls '1'"]),
        ("a.(b)", ["calls '.'"]),
        ("a = ${env:SECRET}", ["holds '$'"]),
        ("a = ? AND b = :c", ["holds '?'"]),
        ("a = :c", ["holds ':'"]),
        ("größe > 5", ["holds 'ö' at character 3", "ASCII"]),
        ("\u00a0a = 1", ["holds"]),
        ("{fn now()}", ["holds '{'"]),
    ],
)
def test_what_could_leave_its_brackets_or_call_anything_is_refused_by_place_and_bound(
    text: str, words: list[str]
) -> None:
    problem = check_condition(text)
    assert problem is not None
    assert all(word in problem for word in words), problem


@given(plain_conditions())
def test_comparisons_of_columns_with_values_are_never_refused(text: str) -> None:
    assert check_condition(text) is None


def test_two_conditions_are_joined_each_in_its_own_brackets() -> None:
    assert join_conditions("a = 1 OR b = 2", "c = 3") == "(a = 1 OR b = 2) AND (c = 3)"


@pytest.mark.parametrize(("first", "second"), [("a) OR (b", "true"), ("true", "a) OR (b")])
def test_what_is_balanced_only_beside_the_other_is_not_joined(first: str, second: str) -> None:
    with pytest.raises(
        InvalidValueError, match=r"condition closes a bracket with \) at character 2"
    ):
        join_conditions(first, second)


def test_what_was_put_together_may_be_as_long_and_as_deep_as_its_parts_are_together() -> None:
    longest = "'" + "x" * (MAX_CONDITION_CHARACTERS - 2) + "'"
    deepest = "(" * MAX_CONDITION_DEPTH + "a" + ")" * MAX_CONDITION_DEPTH
    assert check_condition(join_conditions(longest, "b"), 2) is None
    assert check_condition(join_conditions(deepest, "b"), 2) is None
    assert check_condition(join_conditions(deepest, "b")) is not None
    assert enclose("where", longest) == f"({longest})"


def test_no_function_that_reads_or_runs_something_may_be_called() -> None:
    assert not CONDITION_FUNCTIONS & {
        "reflect",
        "java_method",
        "try_reflect",
        "assert_true",
        "raise_error",
        "input_file_name",
        "identifier",
        "transform",
        "map",
    }
