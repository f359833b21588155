"""Output and exit codes of the command line. Users see an error message, never a traceback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from maintainer.domain.errors import (
    ConfigurationError,
    InvalidValueError,
    MaintainerError,
    UnknownTableError,
)
from maintainer.domain.redaction import make_visible

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130  # the shell's convention: 128 + SIGINT
WIDTH_OF_A_PIPE = 1_000_000  # lines in a pipe are not wrapped, unless COLUMNS sets a width


class VisibleConsole(Console):
    """A console that escapes control characters in texts; its own styles still work."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render the object with all control characters escaped."""
        for segment in super().render(renderable, options):
            yield (
                segment
                if segment.control
                else Segment(make_visible(segment.text, keep="\n"), segment.style)
            )


def echo(line: str, *, is_error: bool = False) -> None:
    """Print a line of plain text on standard output, or on standard error if it is an error."""
    typer.echo(make_visible(line), err=is_error)


def write_json(value: object, indent: int | None = None) -> str:
    """Write JSON with unprintable characters escaped; all letters stay readable."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(
        letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]
        for letter in text
    )


class OutputFormat(StrEnum):
    """Output formats of lists."""

    TABLE = "table"
    JSON = "json"


def make_console(*, is_error: bool = False) -> Console:
    """Make a console on standard output, or on standard error for messages."""
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
    """Print a list on standard output. A narrow terminal wraps long names."""
    make_console().print(shown, crop=False)


def print_json(value: object) -> None:
    """Print one JSON document on standard output."""
    typer.echo(write_json(value, indent=2))


def say(text: str) -> None:
    """Print a progress message on standard error, so that results can be piped."""
    make_console(is_error=True).print(text, markup=False)


@contextmanager
def explained_errors() -> Iterator[None]:
    """Print one clear line instead of a traceback, and exit.

    The exit code is 2 for an error in usage or configuration, 1 for a failure, 130 for Ctrl-C.
    """
    try:
        yield
    except MaintainerError as error:
        for line in str(error).split("\n"):
            echo(f"error: {line}", is_error=True)
        is_usage = isinstance(error, ConfigurationError | InvalidValueError | UnknownTableError)
        raise typer.Exit(EXIT_USAGE if is_usage else EXIT_FAILED) from None
    except BrokenPipeError:
        # The program that reads this output, such as head, has ended. This is not an error.
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
    """Join the words as in `a, b and c`."""
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)
