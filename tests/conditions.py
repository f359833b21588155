"""Conditions for properties: plain ones, and text that is made to break out of its place."""

from __future__ import annotations

from hypothesis import strategies as st

from maintainer.domain.condition import MAX_CONDITION_CHARACTERS, MAX_CONDITION_DEPTH

CONDITIONS = (
    "true",
    "order_date < current_date",
    "event_time < current_date()",
    "day = DATE '2026-01-01' AND part IN (1, 2, 3)",
    "name = 'it''s; -- a /* SELECT */ (text' OR name = \"so is ) this\"",
    r"name = 'a \' quote and a \\' AND x = 1",
    "`a column; SELECT`.`with ``ticks` = 1",
    "`select` > 0 AND t.`from` IS NOT NULL",
    "lake.system.days(at) >= DATE '2026-01-01'",
    "`lake`.system.bucket(4, `id`) = 3 OR SYSTEM.truncate(2, name) = 'ab'",
    "id = CAST('9223372036854775807' AS BIGINT) AND price = CAST('1.50' AS DECIMAL(9, 2))",
    (
        "x = X'1F' AND d = DATE'2026-01-01' AND n = 1.5e+3D AND m > .5 AND k = 5L AND j = 1. AND "
        "i = "
        "2BD"
    ),
    "at < now() - INTERVAL 7 DAYS AND at >= TIMESTAMP_NTZ '2026-01-01 00:00:00'",
    "NOT (a = 1) AND ! b AND NOT NOT c != -1 AND d NOT IN ('x', '\\u0041\\n')",
    "`tags` = 'v'\n\tAND\r\n true AND flag AND name LIKE 'ab%'",
    "'日本' = `größe`",
    "a NOT BETWEEN date_sub(current_date(), 7) AND current_date - INTERVAL '1' DAY + 2",
    "CAST(at AS DATE) < add_months(to_date('2026-01-01'), -3) AND a NOT LIKE 'b%'",
    "at < date_trunc('MONTH', current_timestamp - INTERVAL -1 DAYS 2 HOURS) AND b IS NOT NULL",
    "(id) = (1) AND ((a)) IN ((1), 2) AND date(at) < (current_date() - (7)) AND (3) > b",
    "a < 1 + 2 AND b > (1 + 2) * 3 - -4 / 5 AND (current_date - (2 * 7)) + 1 > day",
    "(" * MAX_CONDITION_DEPTH + "a" + ")" * MAX_CONDITION_DEPTH,
    "a = '" + "a" * (MAX_CONDITION_CHARACTERS - 6) + "'",
)
# A table's columns as Spark declares them, and conditions that Iceberg can and cannot filter by.
DECLARED = (
    "id bigint, number int, price decimal(9, 2), share double, name string, flag boolean, "
    "day date, at timestamp, local timestamp_ntz, raw binary, tags array<string>, "
    "more map<string, string>, place struct<city: string>"
)
FITTING = (
    "t.id = 1 OR ns.t.id = 2 OR lake.ns.t.ID = 3 OR t.place.city = 'Rome'",
    "flag AND NOT flag",
    "id = 1 OR id < 1 + 2 OR id = ' 5 ' OR id IN (1, '-2')",
    "number = '5' OR number = 1.5 OR number < 5000000000",
    "id = CAST('9' AS BIGINT) AND price = CAST('1.5' AS DECIMAL(9, 2)) AND id = CAST(5 AS STRING)",
    "5 > price AND price BETWEEN 1.5 AND (2 * (3 + 4))",
    "share = '1.5e3' OR share = 1 OR share = 'NaN'",
    "name = 'a' AND NAME LIKE 'ab%' AND `name` = CAST(1 AS STRING)",
    "flag = true AND flag = ' No '",
    "day < current_date() AND day = '2026-01-01' AND day = DATE '2026-01-01' AND day = 'today'",
    "day >= current_date - INTERVAL 1 DAY AND (current_date - (2 * 7)) + 1 > day AND day < now()",
    "day = (current_date - 7) OR day = TIMESTAMP '2026-01-01 00:00:00'",
    "at < now() AND at >= TIMESTAMP '2026-01-01 00:00:00' AND at < current_date()",
    "local < now() AND local < '2026-01-01'",
    "CAST(at AS DATE) < to_date('2026-01-01') AND date(day) = '2026-01-01'",
    "raw = X'1F' AND raw = 'abc'",
    "tags IS NOT NULL AND place IS NULL AND more IS NULL",
    "place.city = 'Rome'",
    "lake.system.bucket(4, name) = 3 AND lake.system.days(at) = DATE '2026-01-01'",
)
UNFIT = {
    "name = 5": "which is a string, with a number; Iceberg has no filter for that",
    "id = 1 AND name = 5": "compares the column name at character 12, which is a string, with a",
    "name IN ('a', 5)": "column name at character 1, which is a string, with a number",
    "name < current_date()": "which is a string, with a date or time",
    "name = DATE '2026-01-01'": "which is a string, with a date or time",
    "name = true": "which is a string, with a truth value",
    "name = X'1F'": "which is a string, with a binary value",
    "5 = name": "the column name at character 5, which is a string, with a number",
    "name": "the column name at character 1, which is a string, with a truth value",
    "id = 'many'": "which is a long, with a text",
    "id = '1.5'": "which is a long, with a text",
    "id LIKE '1%'": "looks for a prefix in the column id at character 1, which is a long",
    "id BETWEEN 1 AND DATE '2026-01-01'": "which is a long, with a date or time",
    "price = '1.5'": "which is a decimal(9, 2), with a text",
    "share = 'many'": "which is a double, with a text",
    "flag = 1": "which is a boolean, with a number",
    "flag = 'maybe'": "which is a boolean, with a text",
    "day = 5": "which is a date, with a number",
    "day = 'sometime'": "which is a date, with a text",
    "CAST(at AS DATE) = 5": "column at at character 6, which is a timestamp, with a number",
    "CAST(name AS DATE) = DATE '2026-01-01'": "makes a date of the column name at character 6",
    "raw = 1": "which is a binary, with a number",
    "lake.system.bucket(4, name) = DATE '2026-01-01'": "which is a string, with a date",
    "tags = 'a'": "compares the column tags at character 1, which is a list, and no value",
    "place = 'a'": "which is a struct, and no value",
    "tags LIKE 'a%'": "looks for a prefix in the column tags at character 1, which is a list",
    "flag AND nothing IS NULL": "names the column nothing at character 10, which the table",
    "NOT (other = 1)": "names the column other at character 6",
    "place.town = 'Rome'": "names the column place.town at character 1, which the table",
    "tags.element = 'a'": "column tags.element at character 1, which is inside of a list",
    "more.a = 'a'": "column more.a at character 1, which is inside of a list or a map",
    f"{'a' * 60} LIKE 'a%'": f"names the column {'a' * 40}… at character 1",
    "lake.system.days(nothing) = DATE '2026-01-01'": "names the column nothing at character 18",
}
_ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_FRAGMENTS = (
    *(
        "'",
        '"',
        "`",
        "\\",
        "''",
        "\\'",
        "``",
        "(",
        ")",
        ") OR (",
        "[",
        "]",
        ";",
        "--",
        "-",
        "/*",
        "*/",
        "*/",
        "/*+",
        "r'",
        "R'\\'",
        "x'",
        "${",
        "$$",
        "\n",
        " ",
    ),
    *(
        " AND ",
        " OR ",
        "NOT ",
        " = ",
        "a",
        "b",
        "1",
        "1e+3",
        ".5",
        ".",
        ",",
        "true",
        "date",
        "now()",
        "date(",
        "system.bucket(",
        "`f`(",
        "IN (",
        "CAST(",
    ),
    *(
        "SELECT 1",
        "select",
        "UNION",
        "FROM t",
        "VALUES (1)",
        "reflect('a', 'b')",
        "LIMIT 0",
        "::",
        ":",
        "->",
        "=>",
        "|>",
        "\u017fELECT",
        "\u2028",
        "\u00a0",
        "\0",
    ),
)


def hostile_texts() -> st.SearchStrategy[str]:
    """Pieces of SQL in any order, with any text among them."""
    return st.lists(st.one_of(st.sampled_from(_FRAGMENTS), _ANY_TEXT), min_size=1, max_size=12).map(
        "".join
    )


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def plain_conditions() -> st.SearchStrategy[str]:
    """Comparisons of columns with values, and what AND, OR, NOT and brackets make of them."""
    texts = _ANY_TEXT.map(_quote)
    columns = st.one_of(
        st.sampled_from(["id", "day_1", "a.b"]),
        _ANY_TEXT.filter(bool).map(lambda name: "`" + name.replace("`", "``") + "`"),
    )
    values = st.one_of(
        texts,
        st.integers(-(2**63), 2**63).map(str),
        st.sampled_from(["DATE '2026-01-01'", "1.5e3", "X'00'", "current_date()"]),
    )
    compared = st.tuples(columns, st.sampled_from(["=", "<", ">=", "<>", "<=>"]), values).map(
        " ".join
    )
    listed = st.tuples(columns, st.lists(values, min_size=1, max_size=3)).map(
        lambda pair: f"{pair[0]} IN ({', '.join(pair[1])})"
    )
    return st.recursive(
        st.one_of(compared, listed),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner).map("".join),
            inner.map(lambda one: f"NOT ({one})"),
        ),
        max_leaves=4,
    )
