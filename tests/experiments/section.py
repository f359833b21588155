"""What an experiment found, as a section of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One experiment: what was done, a table, and what it shows."""

    title: str
    setup: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    findings: tuple[str, ...]

    def render(self, note: str) -> str:
        """The section as Markdown, with the note after its setup.

        ValueError if a row and the header differ in length.
        """
        for row in self.rows:
            if len(row) != len(self.header):
                message = f"{self.title}: row {row} has {len(row)} cells, not {len(self.header)}"
                raise ValueError(message)
        lines = [f"## {self.title}", "", *wrap(f"{self.setup} {note}"), ""]
        lines += [_row(self.header), "|---" * len(self.header) + "|", *map(_row, self.rows), ""]
        for finding in self.findings:
            first, *others = wrap(finding, width=_WIDTH - 2)
            lines += [f"- {first}", *(f"  {line}" for line in others)]
        return "\n".join(lines) + "\n"


_WIDTH = 100


def wrap(text: str, width: int = _WIDTH) -> list[str]:
    """The lines of a paragraph, broken at spaces."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def factor(value: float) -> str:
    """How many times as much: 1.84x, 12.5x."""
    return f"{value:.2f}x" if value < 10 else f"{value:.1f}x"


def seconds(value: float) -> str:
    """A time on the clock."""
    return f"{value:.1f} s"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
