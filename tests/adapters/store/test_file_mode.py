from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from tests.adapters.store.values import make_grade, make_health


@pytest.fixture
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir()}


@pytest.mark.usefixtures("_open_umask")
def test_only_its_owner_may_read_a_new_store(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/maintainer.db")
    store.record_health(make_health(), make_grade())
    found = modes(tmp_path)
    store.close()
    assert {"maintainer.db", "maintainer.db-wal", "maintainer.db-shm"} <= found.keys()
    assert set(found.values()) == {0o600}


def test_a_store_that_others_may_read_by_an_operators_choice_stays_so(tmp_path: Path) -> None:
    file = tmp_path / "maintainer.db"
    open_store(f"sqlite:///{file}").close()
    file.chmod(0o640)
    open_store(f"sqlite:///{file}").close()
    assert modes(tmp_path)["maintainer.db"] == 0o640
