from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.repository import ROOT, read_pyproject

# What the contracts must catch, all in one copy of the package: the contract, the file that gets a
# line, the line, and what the contract's own part of the report says of it.
VIOLATIONS = [
    ("layers", "domain/units.py", "import maintainer.ports.clock",
     "maintainer.domain.units -> maintainer.ports.clock"),
    ("layers", "steps/__init__.py", "import maintainer.adapters.clock",
     "maintainer.steps -> maintainer.adapters.clock"),
    ("layers", "stray.py", "", "maintainer.stray"),
    ("pure", "measure/__init__.py", "import os", "maintainer.measure -> os"),
    ("pure", "policy/__init__.py", "from time import monotonic", "maintainer.policy -> time"),
    ("pure", "domain/units.py", "import pyarrow", "maintainer.domain.units -> pyarrow"),
    ("estimate", "estimate/__init__.py", "import maintainer.policy.windows",
     "maintainer.estimate -> maintainer.policy.windows"),
    ("estimate", "estimate/cost.py", "import maintainer.decide.plan",
     "maintainer.estimate.cost -> maintainer.decide.plan"),
    ("world", "steps/__init__.py", "import sqlalchemy", "maintainer.steps -> sqlalchemy"),
    ("world", "api/schemas.py", "import pyiceberg.schema", "maintainer.api.schemas -> pyiceberg"),
    ("adapters-decide-nothing", "adapters/clock.py", "import maintainer.policy",
     "maintainer.adapters.clock -> maintainer.policy"),
    ("adapters-apart", "adapters/clock.py", "import maintainer.adapters.telemetry",
     "maintainer.adapters.clock -> maintainer.adapters.telemetry"),
    ("driver", "adapters/spark/driver/progress.py", "import maintainer.domain.errors",
     "maintainer.adapters.spark.driver.progress -> maintainer.domain.errors"),
    ("no-cycles", "domain/first.py", "import maintainer.domain.second", ".second -> .first"),
    ("no-cycles", "domain/second.py", "import maintainer.domain.first", ".second -> .first"),
    ("chapters", "procedures/rewrite_manifests.py",
     "import maintainer.procedures.expire_snapshots",
     "maintainer.procedures.rewrite_manifests -> maintainer.procedures.expire_snapshots"),
    ("registry", "decide/plan.py", "import maintainer.procedures.rewrite_manifests",
     "maintainer.decide.plan -> maintainer.procedures.rewrite_manifests"),
    ("steps-apart", "steps/review.py", "import maintainer.steps.submit",
     "maintainer.steps.review -> maintainer.steps.submit"),
    ("steps-apart", "steps/kinds/dispatch.py", "import maintainer.steps.prune",
     "maintainer.steps.kinds.dispatch -> maintainer.steps.prune"),
    ("steps-apart", "steps/stray.py", "", "maintainer.steps.stray"),
    ("requests-run-no-step", "requests/run.py", "import maintainer.steps.scan",
     "maintainer.requests.run -> maintainer.steps.scan"),
    ("steps-synchronous", "steps/scan.py", "from threading import Lock",
     "maintainer.steps.scan -> threading"),
    ("kubernetes", "adapters/spark/launcher/kubernetes/pods.py", "import lightkube",
     "maintainer.adapters.spark.launcher.kubernetes.pods -> lightkube"),
]  # fmt: skip


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each contract of a copy of the package with all the violations."""
    copy = tmp_path_factory.mktemp("broken")
    shutil.copytree(
        ROOT / "maintainer",
        copy / "maintainer",
        ignore=shutil.ignore_patterns("__pycache__", "page"),
    )
    shutil.copy(ROOT / "pyproject.toml", copy)
    for _, name, line, _ in VIOLATIONS:
        with (copy / "maintainer" / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    report = result.stdout.partition("Broken contracts\n")[2]
    parts = re.split(r"^(\d+\. .+)\n-+\n", report, flags=re.MULTILINE)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {contract["id"]: said.get(contract["name"], "") for contract in read_contracts()}


def read_contracts() -> list[dict[str, str]]:
    contracts: list[dict[str, str]] = read_pyproject()["tool"]["importlinter"]["contracts"]
    return contracts


def lint(directory: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    return subprocess.run(
        command,
        cwd=directory,
        env={"PYTHONPATH": str(directory), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_holds() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout
    assert f"{len(read_contracts())} kept, 0 broken" in result.stdout


def test_every_contract_has_a_violation_above() -> None:
    assert {entry["id"] for entry in read_contracts()} == {entry[0] for entry in VIOLATIONS}


@pytest.mark.parametrize(
    ("contract", "name", "line", "finding"),
    VIOLATIONS,
    ids=[f"{contract}: {name}: {line}" for contract, name, line, _ in VIOLATIONS],
)
def test_a_violation_breaks_its_contract(
    broken: dict[str, str], contract: str, name: str, line: str, finding: str
) -> None:
    del name, line  # of the copy
    assert finding in broken[contract]
