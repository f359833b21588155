"""A document that this version did not write."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from maintainer.adapters.store import open_store
from maintainer.adapters.store.database import Database
from maintainer.domain.errors import StoreUnavailableError
from tests.adapters.store.values import make_grade, make_health


def test_a_document_that_cannot_be_unpacked_is_an_error_in_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    store, health = open_store(url), make_health()
    store.record_health(health, make_grade())
    database = Database(url)
    with database.write() as connection:
        connection.execute(text("UPDATE table_health SET summary = x'789c00'"))
    database.close()
    with pytest.raises(StoreUnavailableError, match="cannot be read by this version"):
        store.table(health.table)
    store.close()
