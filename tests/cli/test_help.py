"""The help and what the shell completes."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from maintainer.cli import commands
from maintainer.cli.output.console import WIDTH_OF_A_PIPE, make_console
from maintainer.cli.state import complete_table


@pytest.mark.parametrize("panel", commands.PANELS)
def test_the_help_of_a_command_begins_as_the_list_of_commands_says(panel: str) -> None:
    for name, entry in commands.PANELS[panel].items():
        loaded = commands.load_command(name, entry.place)
        assert loaded.name == name
        assert entry.help == " ".join(loaded.help.split("\n\n")[0].split())


def test_every_command_has_a_help_of_its_own() -> None:
    for name in chain.from_iterable(commands.PANELS.values()):
        done = CliRunner().invoke(commands.application, [name, "--help"])
        assert (done.exit_code, f" {name} [" in done.stdout) == (0, True), done.output


def test_no_command_is_listed_twice() -> None:
    listed = list(chain.from_iterable(commands.PANELS.values()))
    assert len(set(listed)) == len(listed)


def test_the_help_shows_the_groups_in_their_order() -> None:
    shown = CliRunner().invoke(commands.application, ["--help"], env={"COLUMNS": "100"}).stdout
    words = [word for line in shown.splitlines() for word in line.split()]
    places = [
        words.index(word)
        for word in ("Look", "scan", "plan", "Act", "run", "pause", "Set", "doctor", "serve")
    ]
    assert places == sorted(places)


def test_rules_of_an_action_are_whole_words_in_the_help_of_80_columns() -> None:
    shown = (
        CliRunner().invoke(commands.application, ["run", "--help"], env={"COLUMNS": "80"}).stdout
    )
    assert "rewrite_position_delete_files" in shown


def complete(configuration: Path, *words: str) -> list[str]:
    """What a bash with completion installed is offered for the last of the words."""
    line = " ".join(("maintainer", *words))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MAINTAINER_")},
        "_MAINTAINER_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words)),
        "MAINTAINER_CONFIG": str(configuration),
        "PYTHONPATH": str(Path(commands.__file__).parents[2]),
    }
    program = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'maintainer'; from maintainer.cli import main; main()",
    ]
    done = subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
def test_the_shell_completes_the_names_of_known_tables(configuration: Path) -> None:
    assert complete(configuration, "scan", "lake.sa") == ["lake.sales.orders"]


@pytest.mark.slow
def test_nothing_is_completed_and_nothing_is_said_without_a_configuration(tmp_path: Path) -> None:
    assert complete(tmp_path / "none.yaml", "why", "lake.") == []


def test_the_configuration_on_the_line_counts(
    configuration: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAINTAINER_CONFIG", raising=False)
    whole = get_command(commands.application)
    parent = whole.make_context(
        "maintainer", ["--config", str(configuration), "scan"], resilient_parsing=True
    )
    # Typer's own Context.
    assert complete_table(parent, "lake") == ["lake.sales.orders"]  # type: ignore[arg-type]
    assert complete_table(parent, "lake.zoo") == []  # type: ignore[arg-type]
    assert (
        complete_table(whole.make_context("maintainer", ["scan"], resilient_parsing=True), "lake")  # type: ignore[arg-type]
        == []
    )


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("80", 80),
        ("120", 120),
        ("", WIDTH_OF_A_PIPE),
        ("0", WIDTH_OF_A_PIPE),
        ("wide", WIDTH_OF_A_PIPE),
    ],
)
def test_a_pipe_is_as_wide_as_columns_says_and_else_never_wraps(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert make_console().width == width
