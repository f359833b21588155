"""Every test of the behaviour suite runs on the fake, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from maintainer.ports.store import Store
from tests.fakes.adapters.store import FakeStore
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]


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
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = FakeStore() if request.param == "fake" else open_store(open_at(request.param, tmp_path, request))
    yield opened
    opened.close()
