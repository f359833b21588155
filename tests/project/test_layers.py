from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.repository import ROOT, read_pyproject

# One violation for each contract: file -> line that is added to it.
VIOLATIONS: dict[str, dict[str, str]] = {
    "layers": {"domain/units.py": "import maintainer.ports.clock"},
    "pure": {"measure/__init__.py": "import os"},
    "estimate": {"estimate/__init__.py": "import maintainer.policy.windows"},
    "world": {"steps/__init__.py": "import sqlalchemy"},
    "adapters-decide-nothing": {"adapters/clock.py": "import maintainer.policy"},
    "adapters-apart": {"adapters/clock.py": "import maintainer.adapters.telemetry"},
    "driver": {"adapters/spark/driver/progress.py": "import maintainer.domain.errors"},
    "no-cycles": {
        "domain/first.py": "import maintainer.domain.second",
        "domain/second.py": "import maintainer.domain.first",
    },
    "steps-apart": {"steps/review.py": "import maintainer.steps.submit"},
    "requests-run-no-step": {"requests/run.py": "import maintainer.steps.scan"},
    "steps-synchronous": {"steps/scan.py": "from threading import Lock"},
    "kubernetes": {"adapters/spark/launcher/kubernetes/pods.py": "import lightkube"},
}
# What the contracts must also catch, beyond their plainest violation.
FURTHER_VIOLATIONS = [
    pytest.param("layers", {"stray.py": ""}, id="a module outside every layer"),
    pytest.param(
        "layers", {"steps/__init__.py": "import maintainer.adapters.clock"}, id="a sibling"
    ),
    pytest.param(
        "pure", {"policy/__init__.py": "from time import monotonic"}, id="a clock in the policy"
    ),
    pytest.param(
        "steps-apart",
        {"steps/kinds/rollback.py": "import maintainer.steps.prune"},
        id="a kind of job that runs a step",
    ),
    pytest.param("steps-apart", {"steps/stray.py": ""}, id="a module of the steps on no floor"),
    pytest.param("pure", {"domain/units.py": "import pyarrow"}, id="a library in the domain"),
    pytest.param(
        "estimate", {"estimate/cost.py": "import maintainer.decide.plan"}, id="a decision"
    ),
    pytest.param(
        "world", {"api/schemas.py": "import pyiceberg.schema"}, id="a submodule of a library"
    ),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and its contracts, apart from the checkout, to be broken."""
    shutil.copytree(
        ROOT / "maintainer",
        tmp_path / "maintainer",
        ignore=shutil.ignore_patterns("__pycache__", "page"),
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(directory: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    only = [argument for contract in contracts for argument in ("--contract", contract)]
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", *only]
    return subprocess.run(
        command,
        cwd=directory,
        env={"PYTHONPATH": str(directory), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def add_lines(copy: Path, additions: dict[str, str]) -> None:
    for name, line in additions.items():
        with (copy / "maintainer" / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")


def name_of(contract: str) -> str:
    contracts = read_pyproject()["tool"]["importlinter"]["contracts"]
    return str(next(entry["name"] for entry in contracts if entry["id"] == contract))


def test_every_contract_holds() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout
    number = len(read_pyproject()["tool"]["importlinter"]["contracts"])
    assert f"{number} kept, 0 broken" in result.stdout


def test_every_contract_has_a_violation_below() -> None:
    assert {entry["id"] for entry in read_pyproject()["tool"]["importlinter"]["contracts"]} == set(
        VIOLATIONS
    )


@pytest.mark.parametrize(("contract", "additions"), [*VIOLATIONS.items(), *FURTHER_VIOLATIONS])
def test_a_violation_breaks_its_contract(
    copy: Path, contract: str, additions: dict[str, str]
) -> None:
    add_lines(copy, additions)
    result = lint(copy, contract)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{name_of(contract)} BROKEN" in result.stdout
