"""Print foreign names safely: control characters cannot reach the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from maintainer.domain.visible import make_visible


class VisibleConsole(Console):
    """A console that escapes control characters in texts; its own styles still work."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render the object, with every text made printable."""
        for segment in super().render(renderable, options):
            yield (
                segment
                if segment.control
                else Segment(make_visible(segment.text, keep="\n"), segment.style)
            )


def echo(line: str, *, is_error: bool = False) -> None:
    """Print one line of plain text on standard output, or on standard error."""
    typer.echo(make_visible(line), err=is_error)


def write_json(value: object, indent: int | None = None) -> str:
    """Write JSON in which letters stay readable and unprintable characters are escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(
        letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]
        for letter in text
    )
