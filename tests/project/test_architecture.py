"""docs/architecture.md names only what exists."""

from __future__ import annotations

import re

from tests.project.house import measure
from tests.project.repository import ROOT, read_text

STEP = re.compile(r"`(?P<path>[\w/]+\.py)(?:: (?P<name>\w+))?`")
FOLDER = re.compile(r"`((?:\w+/)+)`")


def test_every_function_of_the_walks_exists() -> None:
    named = [match.groupdict() for match in STEP.finditer(read_text("docs/architecture.md"))]
    assert len(named) > 20
    missing = []
    for step in named:
        path = ROOT / "maintainer" / step["path"]
        if not path.is_file() or (
            step["name"] and not re.search(rf"\bdef {step['name']}\b", path.read_text())
        ):
            missing.append(step)
    assert missing == []


MOST_SWITCHES = 39


def test_no_more_lines_than_before_name_one_procedure_outside_of_the_chapters() -> None:
    """A new one belongs in a chapter; when there are fewer, the bound falls."""
    switches = measure(ROOT / "maintainer").switches
    assert switches.total() == MOST_SWITCHES, switches
    text = read_text("docs/architecture.md")
    assert f"{switches.total()} in {len(switches)} |" in text


def test_every_folder_of_the_tree_exists_and_none_is_left_out() -> None:
    text = read_text("docs/architecture.md")
    tree = text[text.index("## The folders of") : text.index("## A procedure is")]
    cells = [row.split("|")[1] for row in tree.splitlines() if row.startswith("|")]
    named = {name for cell in cells for name in FOLDER.findall(cell)}
    there = {
        f"{path.name}/"
        for path in (ROOT / "maintainer").iterdir()
        if path.is_dir() and any(path.glob("*.py"))
    }
    assert named == there
