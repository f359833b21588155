"""What may be a condition, and what is refused in which words."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maintainer.domain.condition import (
    MAX_CONDITION_CHARACTERS,
    MAX_CONDITION_DEPTH,
    check_condition,
    enclose,
    join_conditions,
    parse_condition,
    rewrite_condition,
)
from maintainer.domain.condition_tokens import read_tokens
from maintainer.domain.condition_tree import write_condition
from maintainer.domain.errors import InvalidValueError
from tests.conditions import CONDITIONS, hostile_texts, plain_conditions


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
        ("((a = 1)", ["ends where ) was expected"]),
        ("(" * 51 + "a" + ")" * 51, ["nested 51 deep at character 51", "50 deep"]),
        ("NOT " * 51 + "a", ["nested 51 deep at character 201"]),
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
            ["calls 'reflect' at character 1", "it may call CAST", "years"],
        ),
        ("`reflect`('a', 'b') = 1", ["calls 'reflect'"]),
        ("a = lake.db.f(1)", ["holds 'lake' at character 5"]),
        ("`lake`.`system`.ancient(1) = a", ["calls 'lake.system.ancient'"]),
        ("lake.date(a) = 1", ["calls 'lake.date'"]),
        ("IDENTIFIER('reflect')('a') = a", ["calls 'IDENTIFIER'"]),
        ("lower(name) = 'x'", ["calls 'lower' at character 1"]),
        ("a = replace('a', 'b', 'c')", ["calls 'replace' at character 5"]),
        ("'aaaaaaaa!' RLIKE '^(a+)+\\\\1b$'", ["holds 'RLIKE' at character 13"]),
        ("a RLIKE 'x'", ["holds 'RLIKE' at character 3"]),
        ("a NOT RLIKE 'x'", ["holds 'RLIKE' at character 7", "a comparison"]),
        ("a.NOT = 1", ["holds 'NOT' at character 3", "nested column"]),
        ("lake.system.days(a)", ["ends where a comparison"]),
        ("CASE WHEN a = 1 THEN b END", ["holds 'CASE' at character 1"]),
        ("(a)(b)", ["holds '(' at character 4"]),
        ("'a'(b)", ["holds '(' at character 4"]),
        ("1 (b)", ["holds '(' at character 3"]),
        ("a.(b)", ["holds '(' at character 3"]),
        ("a[0] = 1", ["holds '[' at character 2"]),
        ("id % 10 < 3", ["holds '%' at character 4"]),
        ("a = 1 + b", ["holds 'b' at character 9", "a number"]),
        ("a = 1 + 'x'", ["holds \"'x'\" at character 9", "a number"]),
        ("a = 1 + (current_date - 1)", ["holds '(' at character 9", "a number"]),
        ("a = 'x' + 1", ["holds '+' at character 9", "numbers are computed"]),
        ("a = TRUE + 1", ["holds '+' at character 10"]),
        ("a = current_date * 2", ["holds '*' at character 18", "days and intervals"]),
        ("a = 1" + " + 1" * 11, ["holds '+' at character 47", "at most 10 times"]),
        ("a < current_date - ('x')", ["holds '(' at character 20", "a number"]),
        ("a < current_date - (1.5)", ["holds '(' at character 20", "a number up to 1000000"]),
        ("a < current_date - (1000001)", ["a number up to 1000000"]),
        ("(now() - INTERVAL 1 DAY) + 1 < a", ["holds '1' at character 28", "a date only"]),
        ("a = (b)", ["holds '(' at character 5", "a value"]),
        ("(a = 1) = true", ["holds '=' at character 4", "where ) was expected"]),
        ("(" * 51 + "a" + ")" * 51 + " = 1", ["nested 51 deep at character 51"]),
        ("a = " + "(" * 51 + "1" + ")" * 51, ["nested 51 deep at character 55"]),
        ("(1", ["ends where a comparison"]),
        ("a = (1", ["ends where ) was expected"]),
        ("date(lower(a)) = 1", ["holds '(' at character 11"]),
        ("a = date(b)", ["calls 'date' at character 5"]),
        ("last_day(b) = 1", ["a value"]),
        ("a = b", ["holds 'b' at character 5", "a value"]),
        ("a = NULL", ["holds 'NULL'", "IS NULL"]),
        ("a IS TRUE", ["holds 'TRUE' at character 6", "NULL"]),
        ("1 = 1", ["compares two constants at character 1 and at character 5"]),
        ("1", ["ends where a comparison"]),
        ("a <> = 1", ["holds '=' at character 6"]),
        ("a => 1", ["holds '=>' at character 3", "the operators are"]),
        ("a LIKE '%x'", ["LIKE at character 3", "prefix"]),
        ("a LIKE '%'", ["prefix"]),
        ("a LIKE 'x_y%'", ["prefix"]),
        ("a LIKE 'x''y%'", ["prefix"]),
        ("a LIKE 'x%' ESCAPE '/'", ["prefix"]),
        ("a LIKE 5", ["prefix"]),
        ("a BETWEEN 1 OR 2", ["holds 'OR' at character 13", "AND"]),
        ("a = 'x' 'y'", ["holds \"'y'\" at character 9"]),
        ("a = '\\ud800'", ["half of a surrogate pair in the text at character 5"]),
        ("a = '\\Uffffffff'", ["half of a surrogate pair in the text at character 5"]),
        ("a = 1e999999999BD", ["the number '1e999999999BD' at character 5", "400"]),
        ("a = " + "1" * 101, ["at most 100 digits"]),
        ("a = E'x'", ["holds 'E'"]),
        ("a = DATE 'soon'", ["a DATE as Spark reads it"]),
        ("a = DATE '2026-01-01' 'x'", ["a DATE as Spark reads it"]),
        ("`" + "a" * 1001 + "` = 1", ["a name of 1001 characters at character 1"]),
        ("system.bucket(0, a) = 1", ["holds '0' at character 15", "from 1 to 2147483647"]),
        ("system.bucket(a, 4) = 1", ["holds 'a' at character 15"]),
        ("a < current_date - b", ["holds 'b'", "or INTERVAL"]),
        ("a < current_date - 9999999", ["a number up to 1000000"]),
        ("a < current_date" + " + 1" * 11, ["at most 10 times"]),
        ("a < now() - 1", ["holds '1' at character 13", "a date only"]),
        ("a < DATE '2026-01-01' - INTERVAL 1 HOUR - 1", ["a date only"]),
        ("a < TIMESTAMP '2026-01-01' - 1", ["a date only"]),
        ("a < now() - INTERVAL 1 EON", ["holds 'EON'", "a unit"]),
        ("a < now() - INTERVAL x DAY", ["holds 'x'"]),
        ("a < date_sub(now())", ["argument 2 of 2 of date_sub"]),
        ("a < CAST('1' OR DECIMAL)", ["holds 'OR'", "AS"]),
        ("a < CAST('1' AS ARRAY)", ["holds 'ARRAY'", "a type"]),
        ("a < CAST('1' AS DECIMAL(x))", ["a size"]),
        ("CAST(a AS STRING) = 'x'", ["holds 'STRING'", "AS DATE"]),
        ("a = CAST(b AS STRING)", ["calls 'CAST' at character 5"]),
        ("a < current_date - INTERVAL '-1' HOUR + INTERVAL '1' DAY - 1", ["a date only"]),
        ("a < CAST(now() AS TIMESTAMP) - 1", ["a date only"]),
        ("a < CAST('1' AS DECIMAL(101))", ["a size"]),
        ("system.truncate(1 a) = 1", ["where , was expected"]),
        ("a = curdate", ["holds 'curdate'"]),
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
    longest = "a = '" + "x" * (MAX_CONDITION_CHARACTERS - 6) + "'"
    deepest = "(" * MAX_CONDITION_DEPTH + "a" + ")" * MAX_CONDITION_DEPTH
    assert check_condition(join_conditions(longest, "b"), 2) is None
    assert check_condition(join_conditions(deepest, "b"), 2) is None
    assert check_condition(join_conditions(deepest, "b")) is not None
    assert enclose("where", longest) == f"({longest})"


@pytest.mark.parametrize("text", CONDITIONS)
def test_the_written_form_of_a_condition_has_the_same_tree(text: str) -> None:
    tree = parse_condition(text)
    assert parse_condition(write_condition(tree)) == tree


def test_a_condition_is_written_anew_from_its_tree() -> None:
    text = "a==1\tand\nb In('x',\"y'z\\u0041\") oR ! ( c nOt LikE 'ab%' and `d``e` is null )"
    assert rewrite_condition("where", text) == (
        "a == 1 AND b IN ('x', 'y\\'zA') OR NOT (c NOT LIKE 'ab%' AND `d``e` IS NULL)"
    )
    assert rewrite_condition("where", "a=cast('1' as dec(9))") == "a = CAST('1' AS DEC(9))"
    assert rewrite_condition("where", "x=X'1f' AND +1>y") == "x = X'1f' AND 1 > y"
    assert rewrite_condition("where", "((id)) = (1) OR (2) < (id)") == "id = 1 OR 2 < id"
    assert rewrite_condition("where", "(id) IN ((1)) AND (flag)") == "id IN (1) AND (flag)"
    assert (
        rewrite_condition("where", "date(at) = '2026-01-01'") == "CAST(at AS DATE) = '2026-01-01'"
    )
    assert rewrite_condition("where", "a < (1+2)*-3") == "a < (1 + 2) * -3"
    assert rewrite_condition("where", "a < (current_date - (7)) - (2*7)") == (
        "a < (current_date - 7) - (2 * 7)"
    )
    assert rewrite_condition("where", r"a = '\101\%\q\\'") == r"a = 'A\\%q\\'"
    with pytest.raises(InvalidValueError, match="where holds 'RLIKE' at character 3"):
        rewrite_condition("where", "a RLIKE 'x'")


# of date arithmetic, and Iceberg's transforms; nothing else may be called
CALLED = frozenset((
    "add_months", "bucket", "cast", "curdate", "current_date", "current_timestamp", "date",
    "date_add", "date_sub", "date_trunc", "days", "hours", "last_day", "months", "now",
    "timestamp", "to_date", "to_timestamp", "trunc", "truncate", "years",
    "and", "in", "not", "or", "decimal", "dec", "numeric",  # words before brackets
))  # fmt: skip


@given(
    st.one_of(
        hostile_texts(),
        plain_conditions(),
        st.sampled_from(CONDITIONS),
        st.tuples(plain_conditions(), hostile_texts()).map("".join),
        st.tuples(st.sampled_from(CONDITIONS), hostile_texts()).map("".join),
    )
)
@example("a = 'x' AND 'aaa!' RLIKE '^(a+)+b$'")
@example("a = replace(replace('a', 'a', 'aa'), 'a', 'aa')")
def test_what_is_accepted_has_the_same_tree_after_it_is_written_and_calls_nothing_else(
    text: str,
) -> None:
    try:
        tree = parse_condition(text)
    except InvalidValueError:
        return
    written = write_condition(tree)
    again = parse_condition(written, 2)
    assert again == tree
    assert write_condition(again) == written
    tokens = list(read_tokens(written))
    assert not [
        token for token in tokens
        if token.kind == "word" and token.text.upper() in {"RLIKE", "REGEXP", "ILIKE", "CASE"}
    ]  # fmt: skip
    assert {
        before.name.lower()
        for before, token in itertools.pairwise(tokens)
        if token.text == "(" and before.kind in {"word", "name"}
    } <= CALLED
