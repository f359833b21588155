"""What a command imports before it begins: heavy libraries make every start wait."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from maintainer.cli import commands
from tests.adapters.catalog.lake import Lake, rows

LAKE = ("pyiceberg", "pyarrow", "pandas", "numpy", "pyspark", "boto3", "aiohttp", "obstore")
SERVICES = ("fastapi", "uvicorn", "httpx", "requests", "apprise", "apscheduler")
STORE = ("sqlalchemy", "alembic", "psycopg")
METRICS = ("prometheus_client",)
SETTINGS = ("pydantic", "yaml")
PROGRAM = """
import sys
from contextlib import suppress
sys.argv[0] = "maintainer"
from maintainer.cli import main
with suppress(SystemExit):
    main()
print("\\nIMPORTED", *sys.modules)
"""


def imported(*words: str, **environment: str) -> set[str]:
    """The packages that a command has imported at its end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAINTAINER_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env=kept | {"PYTHONPATH": str(Path(commands.__file__).parents[2])} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return {name.split(".")[0] for name in done.stdout.rpartition("IMPORTED")[2].split()}


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_the_help_imports_no_library_but_those_that_print_it(words: list[str]) -> None:
    packages = imported(*words)
    assert "typer" in packages
    assert not packages & {*LAKE, *SERVICES, *STORE, *SETTINGS}
    assert words == ["--version"] or "email" not in packages  # with which a version is read


def test_checking_policies_imports_neither_the_lake_nor_the_store(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text('tables: "lake.*"\nmode: observe\n')
    packages = imported("policies", "check", str(tmp_path))
    assert "yaml" in packages
    assert not packages & {*LAKE, *SERVICES, *STORE, *METRICS}


@pytest.mark.slow
def test_checking_the_configured_policies_imports_the_store_of_known_tables_alone(
    configuration: Path,
) -> None:
    (configuration.parent / "policies").mkdir()
    (configuration.parent / "policies" / "all.yaml").write_text('tables: "*"\nmode: observe\n')
    packages = imported("policies", "check", MAINTAINER_CONFIG=str(configuration))
    assert "sqlalchemy" in packages
    assert not packages & {*LAKE, *SERVICES, *METRICS, "alembic", "psycopg"}


@pytest.mark.slow
def test_completing_a_table_imports_the_store_and_nothing_of_the_lake(configuration: Path) -> None:
    packages = imported(
        _MAINTAINER_COMPLETE="complete_bash",
        COMP_WORDS="maintainer scan lake.sa",
        COMP_CWORD="2",
        MAINTAINER_CONFIG=str(configuration),
    )
    assert "sqlalchemy" in packages
    assert not packages & {*LAKE, *SERVICES}


@pytest.mark.slow
def test_a_scan_of_a_store_of_this_version_imports_no_migrations_and_nothing_of_the_daemon(
    configuration: Path,
) -> None:
    lake = Lake(configuration.parent)
    lake.make_table("sales", "orders").append(rows(1))
    lake.close()
    packages = imported("scan", MAINTAINER_CONFIG=str(configuration))
    assert {"pyiceberg", "sqlalchemy"} <= packages
    assert not packages & {"pyspark", "boto3", *SERVICES}  # requests: for REST catalogs only
    assert not packages & {"alembic", "psycopg"}
