"""The repository's files, as a commit would hold them."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOT_OURS = {"node_modules", "__pycache__", "page", "dist", "build", "demo-lake", "test-results"}


@cache
def list_files() -> tuple[Path, ...]:
    """Every committed file, relative to the root; without git, as in an unpacked archive, every
    file that is not a build's.
    """
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        paths = [Path(name) for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
        paths = [
            path
            for path in paths
            if not any(
                part in NOT_OURS or (part.startswith(".") and part not in {".ci", ".github"})
                for part in path.parts[:-1]
            )
        ]
    return tuple(path for path in paths if (ROOT / path).is_file())


def read_text(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def read_pyproject() -> dict[str, Any]:
    return tomllib.loads(read_text("pyproject.toml"))


def find_targets(makefile: str) -> set[str]:
    """The names that make can be asked for."""
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))


def find_make_commands(markdown: str) -> set[str]:
    """The targets of ``make ...`` in inline code and in code blocks, not the verb in a sentence."""
    blocks = re.findall(r"^```.*?^```", markdown, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^(?: {4}|\t).*$", markdown, flags=re.MULTILINE)
    lines = "\n".join([*blocks, *indented])
    return set(re.findall(r"`make ([a-z][a-z-]*)", markdown)) | set(
        re.findall(r"^\s*(?:\$ )?make ([a-z][a-z-]*)", lines, flags=re.MULTILINE)
    )
