"""The shape of the code in figures: python -m tests.project.house [PACKAGE].

docs/architecture.md says what each figure means and which one is the goal.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.project.repository import ROOT

CHAPTERS = "procedures"  # the folder in which a procedure may be named
_ACTIONS = (
    "ComputePartitionStats|ComputeTableStats|ExpireSnapshots|RemoveOrphanFiles|RewriteDataFiles"
    "|RewriteManifests|RewritePositionDeleteFiles|RollBack"
)
_SWITCH = re.compile(
    rf"isinstance\([^)]*\b({_ACTIONS})|case ({_ACTIONS})|\b(RuleName|Procedure)\.[A-Z]"
)


@dataclass(frozen=True)
class House:
    """The figures of one package."""

    lines: int
    files: int
    statements: int
    imports: int
    switches: Counter[str]  # lines outside of the chapters that name one procedure, by file
    schema_fields: int  # of the API
    widest_port: tuple[str, int]  # its methods, with those that it inherits
    fields: dict[str, int]  # of the large types

    @property
    def import_share(self) -> float:
        """Import statements among all statements."""
        return self.imports / self.statements


def measure(package: Path) -> House:
    """Read every module of the package."""
    texts = {
        path.relative_to(package).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(package.rglob("*.py"))
    }
    trees = {name: ast.parse(text) for name, text in texts.items()}
    statements = [
        node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.stmt)
    ]
    classes = {
        node.name: node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    ports = [
        node.name
        for name, tree in trees.items()
        if name.startswith("ports/")
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    ]
    return House(
        lines=sum(text.count("\n") for text in texts.values()),
        files=len(texts),
        statements=len(statements),
        imports=sum(isinstance(node, ast.Import | ast.ImportFrom) for node in statements),
        switches=Counter(
            name
            for name, text in texts.items()
            if not name.startswith(f"{CHAPTERS}/")
            for line in text.splitlines()
            if _SWITCH.search(line)
        ),
        schema_fields=sum(
            len(_fields_of(node))
            for name, tree in trees.items()
            if name.startswith("api/") and name.endswith("schemas.py")
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        ),
        widest_port=max(
            ((name, len(set(_methods_of(name, classes)))) for name in ports),
            key=lambda found: found[1],
        ),
        fields={
            name: len(_fields_of(classes[name]))
            for name in ("Job", "TableHealth", "ApiContext")
            if name in classes
        },
    )


def _fields_of(node: ast.ClassDef) -> list[str]:
    return [
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and "ClassVar" not in ast.unparse(one.annotation)
    ]


def _methods_of(name: str, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    node = classes.get(name)
    for one in node.body if node is not None else ():
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield one.name
    for base in node.bases if node is not None else ():
        yield from _methods_of(ast.unparse(base).partition("[")[0], classes)


def describe(house: House) -> Iterable[str]:
    """A line for each figure."""
    yield f"{house.lines:,} lines in {house.files} modules"
    yield f"{house.import_share:.1%} of the statements are imports"
    yield (
        f"{house.switches.total()} lines in {len(house.switches)} files outside of {CHAPTERS}/ "
        f"name one procedure"
    )
    for name, number in house.switches.most_common():
        yield f"    {number:3} {name}"
    yield f"{house.schema_fields} fields are declared in schemas of the API"
    yield f"{house.widest_port[1]} methods are behind the widest port, {house.widest_port[0]}"
    for name, number in house.fields.items():
        yield f"{number} fields are in {name}"


if __name__ == "__main__":
    for sentence in describe(measure(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "maintainer")):
        print(sentence)  # noqa: T201 - a command's output
