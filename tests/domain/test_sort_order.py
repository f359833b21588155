from __future__ import annotations

import time

import pytest

from maintainer.domain.sort_order import find_columns, is_sort_order


@pytest.mark.parametrize(
    "text",
    [
        "id",
        "id DESC NULLS LAST, name",
        " a.b.c asc nulls first ,`odd name`.x",
        "zorder(a, b)",
        "ZORDER( `a b` , c.d )",
        "bucket(4, id), days(ts) DESC",
        "truncate(name, 3)",
        "1st",
        "größe",
    ],
)
def test_what_iceberg_reads_is_a_sort_order(text: str) -> None:
    assert is_sort_order(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "id,",
        "id DOWN",
        "id DESC LAST",
        "id NULLS",
        "a b c",
        "zorder()",
        "zorder(a, b), c",
        "zorder(bucket(4, a))",
        "upper(name)",
        "bucket(id)",
        "a; DROP TABLE b",
        "a'b",
        "`a",
        "a..b",
    ],
)
def test_what_iceberg_cannot_read_is_none(text: str) -> None:
    assert not is_sort_order(text)


@pytest.mark.parametrize("piece", ["a ", "a, ", "a.", "zorder(a,", "` ", "a DESC "])
def test_a_long_text_is_refused_at_once(piece: str) -> None:
    started = time.process_time()
    assert not is_sort_order(piece * (500 // len(piece)) + "!")
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("order", "columns"),
    [
        ("a ASC NULLS FIRST, b.c DESC", [("a",), ("b", "c")]),
        ("zorder(a, `B x`)", [("a",), ("b x",)]),
        ("bucket(4, id), truncate(name, 10) desc", [("id",), ("name",)]),
        ("years(ts), date_hour(`t`.x), identity(A)", [("ts",), ("t", "x"), ("a",)]),
        ("desc DESC", [("desc",)]),
        ("`created desc` ASC, `x nulls first`", [("created desc",), ("x nulls first",)]),
    ],
)
def test_the_columns_of_a_sort_order_are_named(order: str, columns: list[tuple[str, ...]]) -> None:
    assert is_sort_order(order)
    assert find_columns(order) == columns
