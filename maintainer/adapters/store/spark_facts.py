"""What the newest Spark driver reported about itself, as one fact of the store."""

from __future__ import annotations

from sqlalchemy import Connection, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import store_info
from maintainer.domain.spark_facts import SparkFacts

_KEY = "spark facts"


def read_spark_facts(connection: Connection) -> SparkFacts | None:
    """Read the facts; None if no driver has reported any."""
    found = connection.execute(
        select(store_info.c.value).where(store_info.c.key == _KEY)
    ).scalar_one_or_none()
    return documents.read_or_none(SparkFacts, found)


def record_spark_facts(database: Database, connection: Connection, facts: SparkFacts) -> None:
    """Replace the facts."""
    connection.execute(database.upsert(store_info, {"key": _KEY, "value": documents.write(facts)}))
