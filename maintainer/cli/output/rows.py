"""Lists for people: fixed columns, reasons on separate lines, and no split words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from maintainer.domain.redaction import make_visible

GAP = "  "
INDENT = 4  # of a reason under its row
LEAST_TEXT_WIDTH = 20  # if a terminal is narrower, the terminal wraps the lines


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[Text, ...]
    below: Text | None


@dataclass(slots=True)
class Rows:
    """A list for any width: a narrow list first drops optional columns, then uses two lines a row.

    Texts are printed as they are, without markup. The cell of the column ``below`` is printed under
    its row.
    """

    columns: tuple[str, ...]
    right: Sequence[str] = ()
    below: str | None = None
    optional: Sequence[str] = ()  # in the order in which they are dropped
    alone: str | None = None  # the column with its own line if a row needs two; default: the first
    rows: list[_Row] = field(default_factory=list)

    def add_row(self, *cells: str | Text) -> None:
        """Add a row with one cell for each column."""
        texts = {
            name: _as_text(cell, keep="\n" if name == self.below else "")
            for name, cell in zip(self.columns, cells, strict=True)
        }
        below = texts.pop(self.below, None) if self.below is not None else None
        self.rows.append(_Row(tuple(texts.values()), below))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = [name for name in self.columns if name != self.below]
        widths = [
            max([cell_len(name), *(row.cells[at].cell_len for row in self.rows)])
            for at, name in enumerate(names)
        ]
        layout = self._lay_out(names, widths, options.max_width)
        if any(names):
            yield from layout.lines([Text(name, style="bold") for name in names])
        for row in self.rows:
            yield from layout.lines(row.cells)
            if row.below is not None and row.below.plain.strip():
                yield from hang(console, Text(" " * INDENT), row.below, options.max_width)
        hidden = [
            name for at, name in enumerate(names) if at not in layout.shown and at != layout.alone
        ]
        if hidden and self.rows:
            yield from hang(
                console,
                Text(),
                Text(f"(not shown at this width: {', '.join(hidden)})", style="dim"),
                options.max_width,
            )

    def _lay_out(self, names: Sequence[str], widths: Sequence[int], width: int) -> _Layout:
        """Lay out a row in one line, without optional columns if necessary, or else in two."""
        is_right = [name in self.right for name in names]
        one_line = self._choose(names, widths, width, range(len(names)))
        if _total(widths[at] for at in one_line) <= width or len(names) == 1:
            return _Layout(one_line, widths, is_right)
        alone = names.index(self.alone) if self.alone is not None else 0
        beside = [at for at in range(len(names)) if at != alone]
        return _Layout(
            self._choose(names, widths, width - len(GAP), beside), widths, is_right, alone
        )

    def _choose(
        self, names: Sequence[str], widths: Sequence[int], width: int, wanted: Sequence[int]
    ) -> list[int]:
        """Return the indexes of the columns to show, with as many optional columns as fit."""
        shown = list(wanted)
        for name in self.optional:
            if _total(widths[at] for at in shown) <= width:
                break
            shown.remove(names.index(name))
        return shown


@dataclass(frozen=True, slots=True)
class _Layout:
    """The positions of a row's cells: the shown cells in one line, and the cell `alone` above."""

    shown: Sequence[int]
    widths: Sequence[int]
    is_right: Sequence[bool]
    alone: int | None = None

    def lines(self, cells: Sequence[Text]) -> Iterator[Text]:
        """Yield the row as one or two lines."""
        if self.alone is not None and cells[self.alone].plain:
            yield _as_is(cells[self.alone].copy())
        line = Text("" if self.alone is None else GAP)
        for at in self.shown:
            cell, rest = cells[at], self.widths[at] - cells[at].cell_len
            line.append_text(
                Text.assemble(" " * rest, cell)
                if self.is_right[at]
                else Text.assemble(cell, " " * rest)
            )
            line.append(GAP)
        line.rstrip()
        yield _as_is(line)


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with texts in two columns; a long text continues in the second column."""

    facts: Sequence[tuple[Text, Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max((title.cell_len for title, _ in self.facts), default=0)
        for title, text in self.facts:
            yield from hang(
                console,
                Text.assemble(title, " " * (width - title.cell_len), GAP),
                text,
                options.max_width,
            )


def hang(console: Console, title: Text, text: Text, width: int) -> Iterator[Text]:
    """Yield the text beside its title; all its lines begin in the same column."""
    left = title.cell_len
    most = max(width - left, LEAST_TEXT_WIDTH)
    wrapped = [
        line
        for part in text.split("\n", allow_blank=True)
        for line in part.wrap(console, most, overflow="fold") or [part]
    ]
    for number, line in enumerate(wrapped):
        line.rstrip()
        whole = title.copy() if number == 0 else Text(" " * left)
        whole.append_text(line)
        whole.rstrip()
        yield _as_is(whole)


def _as_is(line: Text) -> Text:
    """Return the line unwrapped, so that the terminal wraps it; print it with ``crop=False``."""
    line.no_wrap, line.overflow = True, "ignore"
    return line


def _as_text(cell: str | Text, keep: str) -> Text:
    return cell if isinstance(cell, Text) else Text(make_visible(cell, keep))


def _total(widths: Iterator[int] | Sequence[int]) -> int:
    each = list(widths)
    return sum(each) + len(GAP) * (len(each) - 1)
