"""Names with line breaks and escape sequences on a terminal, and in JSON."""

from __future__ import annotations

import errno
import json
from datetime import UTC, datetime
from io import StringIO

import pytest
import typer
from rich.text import Text

from maintainer.cli.output.console import (
    VisibleConsole,
    echo,
    explained_errors,
    make_console,
    print_json,
)
from maintainer.cli.output.show import health_table
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault

HOSTILE = "x\x1b[2J\x1b]0;title\x9b31m\u202e"
VISIBLE = r"x\x1b[2J\x1b]0;title\x9b31m\u202e"


def test_a_list_on_a_terminal_has_only_our_own_escape_sequences(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = TableIdentifier("lake", ("sales",), f"{HOSTILE}\nlake.sales.forged  healthy")
    make_console().print(
        health_table(
            [
                TableFault(
                    table,
                    FaultKind.METADATA_MISSING,
                    f"reason {HOSTILE}",
                    datetime(2026, 3, 1, tzinfo=UTC),
                )
            ]
        )
    )
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert shown.replace("\n", "").isprintable()
    assert [line for line in shown.splitlines() if line.startswith("lake.sales.forged")] == []


def test_styles_stay_and_what_they_are_put_on_is_visible() -> None:
    written = StringIO()
    console = VisibleConsole(
        file=written, force_terminal=True, color_system="standard", width=200, highlight=False
    )
    console.print(Text(HOSTILE, style="bold red"))
    console.print(HOSTILE, markup=False)
    assert written.getvalue().splitlines() == [f"\x1b[1;31m{VISIBLE}\x1b[0m", VISIBLE]


def test_an_error_names_a_hostile_table_in_one_visible_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = UnknownTableError(f"no table {HOSTILE}\x85\u2028is known")
    with pytest.raises(typer.Exit), explained_errors():
        raise error
    assert capsys.readouterr().err == f"error: no table {VISIBLE}\\x85\\u2028is known\n"


def test_a_plain_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    echo(f"a\n{HOSTILE}")
    assert capsys.readouterr().out == f"a\\n{VISIBLE}\n"


def test_json_holds_the_name_unchanged_and_shows_no_control_character(
    capsys: pytest.CaptureFixture[str],
) -> None:
    value = [{"table": f"{HOSTILE}\n\U000e0041 größe"}]
    print_json(value)
    shown = capsys.readouterr().out
    assert json.loads(shown) == value
    assert shown.replace("\n", "").isprintable()
    assert "größe" in shown


def test_a_read_only_file_system_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    error = OSError(errno.EROFS, "Read-only file system", "/srv/x")
    with pytest.raises(typer.Exit) as end, explained_errors():
        raise error
    assert (end.value.exit_code, capsys.readouterr().err) == (
        1,
        "error: /srv/x: Read-only file system\n",
    )
