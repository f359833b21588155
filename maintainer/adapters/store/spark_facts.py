"""What the newest Spark driver of each pool reported, as one fact of the store for each pool."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import store_info
from maintainer.domain.driver import SparkFacts

_KEY = "spark facts of "


def read_spark_facts(connection: Connection) -> Mapping[str, SparkFacts]:
    rows = connection.execute(
        select(store_info).where(store_info.c.key.startswith(_KEY)).order_by(store_info.c.key)
    )
    found = [documents.read(SparkFacts, row.value) for row in rows]
    return {facts.pool: facts for facts in found}


def record_spark_facts(database: Database, connection: Connection, facts: SparkFacts) -> None:
    """Replace the facts of the pool."""
    values = {"key": f"{_KEY}{facts.pool}", "value": documents.write(facts)}
    connection.execute(database.upsert(store_info, values))
