"""Writes the pages that are generated from the settings and from the types of the rules."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

_WIDTH = 100


def fold(text: str) -> str:
    """Wrap the paragraphs of a docstring at the documents' width."""
    return "\n\n".join(fill(" ".join(part.split()), _WIDTH) for part in text.split("\n\n") if part)


def write_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown; the first cell of each row is code."""
    names = list(columns)
    head = f"| {' | '.join(names)} |\n|{'---|' * len(names)}"
    return "\n".join([head, *(_write_row(*row) for row in rows)])


def _write_row(key: str, *cells: str) -> str:
    return f"| {' | '.join((f'`{key}`', *cells))} |"
