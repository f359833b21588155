"""Every test of the behaviour suite runs on the fake, on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from maintainer.ports.store import Store
from tests.fakes.adapters.store import FakeStore
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]


@pytest.fixture(scope="session")
def new_sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with every table and nothing in them: to copy it is faster than to make it."""
    path = tmp_path_factory.mktemp("new") / "maintainer.db"
    open_store(f"sqlite:///{path}").close()
    return path


def open_at(kind: str, directory: Path, request: pytest.FixtureRequest) -> str:
    """The URL of a new store."""
    if kind == "sqlite":
        return f"sqlite:///{directory}/store/maintainer.db"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create_schema()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return open_at(request.param, tmp_path, request)


@pytest.fixture(params=["fake", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path, new_sqlite_file: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        (tmp_path / "store").mkdir()
        shutil.copyfile(new_sqlite_file, tmp_path / "store" / "maintainer.db")
    opened: Store = (
        FakeStore()
        if request.param == "fake"
        else open_store(open_at(request.param, tmp_path, request))
    )
    yield opened
    opened.close()
