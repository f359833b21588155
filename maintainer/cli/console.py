"""Output and exit codes of the command line: no traceback reaches a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum

import typer
from rich.console import Console, RenderableType

from maintainer.cli.terminal import VisibleConsole, echo, write_json
from maintainer.domain.errors import (
    ConfigurationError,
    InvalidValueError,
    MaintainerError,
    UnknownTableError,
)

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130  # the shell's convention: 128 + SIGINT
WIDTH_OF_A_PIPE = 1_000_000  # no line is wrapped in a pipe, unless COLUMNS sets a width


class OutputFormat(StrEnum):
    """Output formats of lists."""

    TABLE = "table"
    JSON = "json"


def make_console(*, is_error: bool = False) -> Console:
    """A console on standard output, or on standard error for messages."""
    stream = sys.stderr if is_error else sys.stdout
    return VisibleConsole(
        stderr=is_error,
        width=None if stream.isatty() else _width_of_a_pipe(os.environ),
        highlight=False,
        soft_wrap=False,
    )


def _width_of_a_pipe(environ: Mapping[str, str]) -> int:
    columns = environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else WIDTH_OF_A_PIPE


def print_list(shown: RenderableType) -> None:
    """Print a list on standard output; a narrow terminal wraps long names."""
    make_console().print(shown, crop=False)


def print_json(value: object) -> None:
    """Print one JSON document on standard output."""
    typer.echo(write_json(value, indent=2))


def say(text: str) -> None:
    """Print a progress message on standard error, so that results can be piped."""
    make_console(is_error=True).print(text, markup=False)


@contextmanager
def explained_errors() -> Iterator[None]:
    """Print one clear line instead of a traceback.

    Exits with 2 for usage and configuration, 1 for a failure, 130 for Ctrl-C.
    """
    try:
        yield
    except MaintainerError as error:
        for line in str(error).split("\n"):
            echo(f"error: {line}", is_error=True)
        is_usage = isinstance(error, ConfigurationError | InvalidValueError | UnknownTableError)
        raise typer.Exit(EXIT_USAGE if is_usage else EXIT_FAILED) from None
    except BrokenPipeError:
        # The program that reads our output has ended (head, less): that is no error.
        sys.stderr.close()
        raise typer.Exit(0) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        echo(f"error: {place}{error.strerror or error}", is_error=True)
        raise typer.Exit(EXIT_FAILED) from None
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None


def join(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)
