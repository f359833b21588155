"""CPU seconds of short commands: the help, the check of the policies, a scan that finds no change.

The peer is PyIceberg's own command line where it has something similar.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.adapters.catalog.lake import Lake, rows
from tests.benchmarks.harness import Measured, cpu_seconds, less_is_better

TABLES = 10
LEAST_TABLES = 2
OURS = "from maintainer.cli import main; main()"
PEER = "from pyiceberg.cli.console import run; run()"


def run(scale: float) -> list[Measured]:
    """Each command in a process of its own, on a lake of small tables."""
    with TemporaryDirectory() as directory:
        lake = Path(directory)
        _make(lake, max(LEAST_TABLES, int(TABLES * scale)))
        ours, peer = partial(_seconds, lake, OURS), partial(_seconds, lake, PEER)
        ours("scan")  # the first one, which measures
        return [
            less_is_better(
                "--help", ours("--help"), peer("--help"), "pyiceberg --help", "CPU s", reach=1
            ),
            less_is_better("policies check", ours("policies", "check"), None, "nobody", "CPU s"),
            less_is_better(
                "unchanged scan",
                ours("scan"),
                peer("--catalog", "lake", "list", "sales"),
                "pyiceberg list",
                "CPU s",
            ),
        ]


def _make(directory: Path, tables: int) -> None:
    lake = Lake(directory)
    for number in range(tables):
        lake.make_table("sales", f"orders_{number}").append(rows(1))
    lake.close()
    (directory / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {{type: sql, uri: '{_uri_of(directory)}', "
        f"warehouse: 'file://{directory}'}}}}\n"
    )
    (directory / "policies").mkdir()
    (directory / "policies" / "all.yaml").write_text('tables: "*"\nmode: observe\n')


def _uri_of(directory: Path) -> str:
    return f"sqlite:///{directory}/catalog.db"


def _seconds(directory: Path, program: str, *words: str) -> float:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAINTAINER_")}
    sources = Path(__file__).parents[2]
    environment = kept | {
        "PYTHONPATH": str(sources),
        "PYICEBERG_CATALOG__LAKE__TYPE": "sql",
        "PYICEBERG_CATALOG__LAKE__URI": _uri_of(directory),
    }

    def start() -> None:
        subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=directory,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    return cpu_seconds(start)
