"""The folder travels to Spark: it needs neither its place in this package nor the rest of it."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.spark import driver

FOLDER = Path(driver.__file__).parent


def find_foreign_imports(folder: Path) -> Iterator[str]:
    """The modules that are neither the folder's own nor the standard library's nor pyspark's."""
    for path in sorted(folder.rglob("*.py")):
        inside = len(path.relative_to(folder).parts)
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names=names):
                    found = [alias.name for alias in names]
                case ast.ImportFrom(level=0, module=str(module)):
                    found = [module]
                case ast.ImportFrom(level=level, module=module) if level > inside:
                    found = ["." * level + (module or "")]
                case _:
                    found = []
            for name in found:
                if name.partition(".")[0] not in {*sys.stdlib_module_names, "pyspark"}:
                    yield f"{path.relative_to(folder)}: {name}"


def test_the_driver_imports_the_standard_library_pyspark_and_itself() -> None:
    assert len(list(FOLDER.rglob("*.py"))) > 1
    assert list(find_foreign_imports(FOLDER)) == []


@pytest.mark.parametrize(
    "line",
    [
        "import maintainer.domain.errors",
        "from ..states import classify",
        "def later():\n    import httpx",
    ],
)
def test_an_import_of_anything_else_is_noticed(tmp_path: Path, line: str) -> None:
    shutil.copytree(FOLDER, tmp_path / "driver", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "driver" / "progress.py").write_text(line)
    assert len(list(find_foreign_imports(tmp_path / "driver"))) == 1


def test_the_folder_alone_is_enough_under_any_name(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "travels", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import travels.program; "
        "print('maintainer' in sys.modules, travels.program.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", str(tmp_path / "travels" / "program.py")]
