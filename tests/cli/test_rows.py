"""Lists at the widths that people have: nothing is split, cut or padded."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from maintainer.cli.output.rows import Facts, Rows, hang


def render(rows: Rows, width: int) -> list[str]:
    stream = StringIO()
    Console(file=stream, width=width).print(rows, crop=False)
    return stream.getvalue().splitlines()


def make(*names: str) -> Rows:
    rows = Rows(
        ("table", "band", "files", "small", "why"),
        right=("files", "small"),
        below="why",
        optional=("small",),
    )
    for name in names:
        rows.add_row(
            name,
            Text("critical", style="bold red"),
            "9,852",
            "9,851",
            "9,851 of 9,852 files are small; a rewrite would turn 9,852 files into 12",
        )
    return rows


def test_a_row_has_its_columns_in_one_line_and_its_reason_below() -> None:
    assert render(make("lake.sales.orders", "lake.sales.x"), 100) == [
        "table              band      files  small",
        "lake.sales.orders  critical  9,852  9,851",
        "    9,851 of 9,852 files are small; a rewrite would turn 9,852 files into 12",
        "lake.sales.x       critical  9,852  9,851",
        "    9,851 of 9,852 files are small; a rewrite would turn 9,852 files into 12",
    ]


def test_a_reason_is_wrapped_between_words_under_its_own_beginning() -> None:
    assert render(make("lake.sales.orders"), 50)[2:] == [
        "    9,851 of 9,852 files are small; a rewrite",
        "    would turn 9,852 files into 12",
    ]


def test_an_optional_column_goes_first_and_is_named() -> None:
    assert render(make("lake.sales.orders"), 40) == [
        "table              band      files",
        "lake.sales.orders  critical  9,852",
        "    9,851 of 9,852 files are small; a",
        "    rewrite would turn 9,852 files into",
        "    12",
        "(not shown at this width: small)",
    ]


def test_then_the_first_column_takes_a_line_of_its_own() -> None:
    name = "lake.a_rather_long_namespace.and_a_table_name"
    assert render(make(name), 45)[:4] == [
        "table",
        "  band      files  small",
        name,
        "  critical  9,852  9,851",
    ]
    assert render(make(name), 20)[:4] == ["table", "  band      files", name, "  critical  9,852"]


def test_another_column_than_the_first_can_take_the_line_of_its_own() -> None:
    rows = Rows(("at", "actor", "table"), alone="table")
    rows.add_row("2026-03-04 12:00", "person ada", "lake.warehouse.events_by_day")
    assert render(rows, 40) == [
        "table",
        "  at                actor",
        "lake.warehouse.events_by_day",
        "  2026-03-04 12:00  person ada",
    ]


def test_facts_stand_beside_their_names() -> None:
    stream = StringIO()
    facts = Facts(
        [
            (Text("job"), Text("m-1")),
            (Text("statement"), Text("CALL lake.system.rewrite_data_files")),
        ]
    )
    Console(file=stream, width=36).print(facts)
    assert stream.getvalue().splitlines() == [
        "job        m-1",
        "statement  CALL",
        "           lake.system.rewrite_data_",
        "           files",
    ]


@pytest.mark.parametrize("width", [20, 40, 80, 120, 10_000])
def test_no_line_ends_in_blanks_and_no_word_is_split_at_any_width(width: int) -> None:
    lines = render(
        make("lake.sales.orders", "lake.warehouse_with_a_long_name.events_by_day"), width
    )
    assert lines == [line.rstrip() for line in lines]
    words = " ".join(lines).split()
    for word in ("lake.warehouse_with_a_long_name.events_by_day", "critical", "9,852"):
        assert word in words


def test_brackets_in_a_name_are_no_markup() -> None:
    rows = Rows(("table",))
    rows.add_row("lake.s.[bold]x")
    assert render(rows, 80) == ["table", "lake.s.[bold]x"]


def test_a_line_break_in_a_name_makes_no_row_of_its_own() -> None:
    rows = Rows(("table", "n"))
    rows.add_row("lake.s.x\nlake.s.forged", "1")
    assert render(rows, 80) == ["table                    n", "lake.s.x\\nlake.s.forged  1"]


def test_a_list_without_rows_is_its_heading() -> None:
    assert render(Rows(("table", "why"), below="why"), 80) == ["table"]


def test_wide_characters_take_two_columns() -> None:
    rows = Rows(("table", "n"), right=("n",))
    rows.add_row("売上", "1")
    rows.add_row("ab", "22")
    assert render(rows, 80) == ["table   n", "売上    1", "ab     22"]


def test_lines_of_a_reason_stay_lines() -> None:
    rows = Rows(("rule", "why"), below="why")
    rows.add_row("expire", "first\n\nthird")
    assert render(rows, 80) == ["rule", "expire", "    first", "", "    third"]


def test_a_text_hangs_beside_its_title() -> None:
    stream = StringIO()
    console = Console(file=stream, width=40)
    for line in hang(
        console, Text("ok  Java  "), Text("Java 21 at /usr/lib/jvm/java-21 (from PATH)"), 40
    ):
        console.print(line)
    assert (
        stream.getvalue()
        == "ok  Java  Java 21 at\n          /usr/lib/jvm/java-21 (from\n          PATH)\n"
    )
