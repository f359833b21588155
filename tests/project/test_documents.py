"""The documents: folded lines, links that lead somewhere, an index that names each page."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath

import pytest

from tests.project.repository import ROOT, list_files, read_text

WIDTH = 100
DOCUMENTS = tuple(path for path in list_files() if path.suffix == ".md")
_LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")
_MARK = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?")


def prose(markdown: str) -> list[str]:
    """The lines that are neither in a code block nor in a table."""
    lines: list[str] = []
    is_code = False
    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith(("|", "    ", "\t")):
            lines.append(line)
    return lines


def too_wide(markdown: str) -> list[str]:
    """The lines of prose beyond the width that could be folded: no images, no single long word."""
    wide = [line for line in prose(markdown) if len(line) > WIDTH and not line.startswith("![")]
    return [line for line in wide if " " in _MARK.sub("", line, count=1)]


def anchors(markdown: str) -> set[str]:
    """What a link can point to, made from headings as GitHub makes it."""
    headings = [line.lstrip("#").strip() for line in prose(markdown) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def find_broken_links(document: Path, markdown: str) -> list[str]:
    """The relative links whose file, or whose heading in it, does not exist."""
    tables = [line for line in markdown.splitlines() if line.startswith("|")]
    broken = []
    for target in _LINK.findall("\n".join([*prose(markdown), *tables])):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        found = Path(normpath(PurePosixPath(document.parent, path))) if path else document
        has_anchor = not anchor or found.suffix != ".md"
        if not (ROOT / found).exists() or not (has_anchor or anchor in anchors(read_text(found))):
            broken.append(target)
    return broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_a_line_of_prose_fits_a_hundred_columns(document: Path) -> None:
    assert too_wide(read_text(document)) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_within_the_repository_leads_somewhere(document: Path) -> None:
    assert find_broken_links(document, read_text(document)) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_a_path_of_the_code_that_a_page_names_exists(document: Path) -> None:
    if document.parent == Path("docs/adr"):
        return  # a decision record tells of its own time
    named = set(re.findall(r"`((?:maintainer|tests)/[\w/]+(?:\.py)?)`", read_text(document)))
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_the_index_names_every_page() -> None:
    index = read_text("docs/README.md")
    pages = {path.name for path in DOCUMENTS if path.parent == Path("docs")} - {"README.md"}
    assert pages
    assert {name for name in pages if f"({name})" not in index} == set()


def test_a_figure_of_cost_in_the_readme_is_one_of_the_benchmarks() -> None:
    text = read_text("README.md")
    part = text[text.index("## What it costs") : text.index("In a test of half an hour")]
    rows = [row.split("|")[2:5] for row in part.splitlines() if row.startswith("| ")][1:]
    figures = {
        figure
        for row in rows
        for cell in row
        for figure in re.findall(r"[\d,.]*\d(?=x| s|\b)", cell)
    }
    assert len(figures) > 15
    known = set(re.findall(r"[\d,.]*\d", read_text("docs/benchmarks.md")))
    assert figures - known == set()


def test_a_table_a_code_block_and_a_long_word_may_be_wide() -> None:
    wide = "word " * 30
    exempt = [f"| {wide} |", "```sh", wide, "```", f"    {wide}", f"- {'x' * 120}", f"![{wide}](x)"]
    assert too_wide("\n".join(exempt)) == []
    assert too_wide(f"- {wide}") == [f"- {wide}"]
    assert too_wide(wide) == [wide]


def test_a_broken_link_is_found() -> None:
    text = (
        "[one](docs/none.md) [two](README.md#none) [three](README.md#limits) [four](https://none)"
    )
    assert find_broken_links(Path("CHANGELOG.md"), text) == ["docs/none.md", "README.md#none"]
