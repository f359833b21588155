from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import maintainer
from tests.project.repository import (
    ROOT,
    find_make_commands,
    find_targets,
    list_files,
    read_pyproject,
    read_text,
)

MAXIMUM_BYTES = 1_000_000
VAGUE_NAMES = {"base", "common", "core", "helper", "helpers", "manager", "misc", "util", "utils"}
# In two parts, so that this file does not find itself.
REGISTRIES = tuple(
    f"{name}.{ending}"
    for name, ending in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry.npmjs", "org"),
        ("registry.yarnpkg", "com"),
        ("repo1.maven", "org"),
        ("repo.maven", "apache.org"),
        ("proxy.golang", "org"),
    )
)
DOCUMENTS = ("README.md", "CONTRIBUTING.md")


def sources() -> list[Path]:
    return [
        path
        for path in list_files()
        if path.parts[0] == "maintainer" or path.parts[:2] == ("web", "src")
    ]


def test_the_name_of_a_module_says_what_it_holds() -> None:
    modules = [path for path in sources() if path.suffix in {".py", ".ts", ".tsx"}]
    assert [
        path
        for path in modules
        if VAGUE_NAMES & {path.stem.lower(), *(part.lower() for part in path.parts[:-1])}
    ] == []


def test_no_file_is_larger_than_a_megabyte() -> None:
    assert [path for path in list_files() if (ROOT / path).stat().st_size > MAXIMUM_BYTES] == []


def test_no_file_names_the_address_of_a_package_registry() -> None:
    guilty = [
        (path, registry)
        for path in list_files()
        for registry in REGISTRIES
        if registry.encode() in (ROOT / path).read_bytes()
    ]
    assert guilty == []


def test_the_newest_version_in_the_changelog_is_that_of_the_package() -> None:
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", read_text("CHANGELOG.md"), flags=re.MULTILINE)
    assert newest is not None
    assert newest[1] == read_pyproject()["project"]["version"] == maintainer.__version__


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_command_of_a_document_exists(document: str) -> None:
    assert find_make_commands(read_text(document)) <= find_targets(read_text("Makefile"))


def test_the_guide_for_contributors_shows_the_commands_it_speaks_of() -> None:
    assert find_make_commands(read_text("CONTRIBUTING.md")) >= {
        "setup",
        "test",
        "test-fast",
        "check",
        "fix",
        "lock",
    }


def test_a_make_command_is_distinguished_from_the_verb() -> None:
    assert find_make_commands(
        "We make tables small: `make demo`.\n\n    make test  # all\n\n```sh\n$ make "
        "check\n```\nto make sure"
    ) == {
        "demo",
        "test",
        "check",
    }


def test_every_target_of_the_makefile_is_explained_or_internal() -> None:
    makefile = read_text("Makefile")
    explained = set(re.findall(r"^([a-z][a-z-]*):.*## ", makefile, flags=re.MULTILINE))
    assert {
        name for name in find_targets(makefile) - explained if not name.startswith("check-")
    } == set()


def test_the_ci_script_is_a_program() -> None:
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    assert read_text(".ci/run").startswith("#!/usr/bin/env bash\nset -euo pipefail\n")


def test_every_decision_record_is_in_the_index() -> None:
    index = read_text("docs/adr/README.md")
    records = [
        path.name
        for path in list_files()
        if path.parts[:2] == ("docs", "adr") and re.match(r"\d{4}-", path.name)
    ]
    assert records
    assert [name for name in records if f"({name})" not in index] == []


def test_an_address_of_the_daemon_in_the_page_begins_with_its_prefix() -> None:
    """The typed client puts it in front of its own; other addresses are templates."""
    pages = [path for path in sources() if path.suffix in {".ts", ".tsx"}]
    bare = re.compile(r'`/api|fetch\(["`]/|href="/')
    assert [path for path in pages if bare.search(read_text(path))] == []


def test_a_docstring_is_one_text_not_the_parts_of_a_string() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    assert [
        f"{path}: {text.splitlines()[0]}"
        for path in sources()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(read_text(path)))
        if isinstance(node, documented)
        and re.search(r'"\n *"', text := ast.get_docstring(node, clean=False) or "")
    ] == []
