from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from maintainer.adapters.catalog import ReadCount
from maintainer.adapters.store import open_store
from maintainer.cli import plan, run, scan
from maintainer.settings import ScanSettings
from tests.adapters.store.values import make_grade, make_health, make_job
from tests.steps.world import World


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """A configuration whose store has one table and one job that waits."""
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: "
        f"'file://{tmp_path}'}}}}\n"
    )
    store = open_store(f"sqlite:///{tmp_path}/maintainer.db")
    store.record_health(make_health(), make_grade())
    store.add_job(make_job())
    store.close()
    return file


def open_instead(patch: pytest.MonkeyPatch, world: World, *modules: ModuleType) -> None:
    """The commands scan, check, plan and run, and those of these modules, work in the simulated
    world.
    """

    @contextmanager
    def open_world(_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(
            ports=world.ports, settings=SimpleNamespace(scan=ScanSettings()), read=ReadCount()
        )

    for module in (scan, plan, run, *modules):
        patch.setattr(module, "load", lambda _: None)
        patch.setattr(module, "open_app", open_world)
