from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from maintainer.adapters.catalog.reader import ReadCount
from maintainer.adapters.store import open_store
from maintainer.cli.jobs import run
from maintainer.cli.tables import plan, scan
from maintainer.settings import ScanSettings
from tests.adapters.catalog.lake import Lake, rows
from tests.adapters.store.values import make_grade, make_health, make_job
from tests.steps.world import World


@pytest.fixture(scope="session")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one table and one job that waits: to copy it is faster than to make it."""
    path = tmp_path_factory.mktemp("cli") / "maintainer.db"
    store = open_store(f"sqlite:///{path}")
    store.record_health(make_health(), make_grade())
    store.add_job(make_job())
    store.close()
    return path


@pytest.fixture
def configuration(tmp_path: Path, store_file: Path) -> Path:
    """A configuration whose store has one table and one job that waits."""
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: "
        f"'file://{tmp_path}'}}}}\n"
    )
    shutil.copyfile(store_file, tmp_path / "maintainer.db")
    return file


@pytest.fixture
def real_lake(tmp_path: Path) -> Path:
    """A directory with a real catalog of one table, its configuration, and no policy."""
    lake = Lake(tmp_path)
    lake.make_table("sales", "orders").append(rows(1))
    lake.close()
    (tmp_path / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', "
        f"warehouse: 'file://{tmp_path}/warehouse'}}}}\n"
    )
    (tmp_path / "policies").mkdir()
    return tmp_path


def open_instead(patch: pytest.MonkeyPatch, world: World, *modules: ModuleType) -> None:
    """The commands scan, check, plan and run, and those of these modules, work in the simulated
    world.
    """

    @contextmanager
    def open_world(_: object, *, runs_jobs: bool = False) -> Iterator[SimpleNamespace]:  # noqa: ARG001
        yield SimpleNamespace(
            ports=world.ports, settings=SimpleNamespace(scan=ScanSettings()), read=ReadCount()
        )

    for module in (scan, plan, run, *modules):
        patch.setattr(module, "load", lambda _: None)
        patch.setattr(module, "open_app", open_world)
