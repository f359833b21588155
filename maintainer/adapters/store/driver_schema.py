"""The store's tables for remote drivers and for the processes that own them."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, Text

from maintainer.adapters.store.schema import metadata, owned_by
from maintainer.adapters.store.types import Count, Instant, Packed, name_type

# Drivers that poll, with the hashes of their tokens.
drivers = Table(
    "drivers",
    metadata,
    Column("name", name_type(), primary_key=True),
    Column("owner", name_type(), nullable=False),
    Column("token_digest", Text, nullable=False),
    Column("token_expires_at", Instant, nullable=False),
    Column("former_digest", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("megabytes", Count, nullable=False),
    Column("handle", Text, nullable=False),
    Column("process", Text, nullable=False),
    Column("polls", Count, nullable=False),
    Column("ordered", Count, nullable=False),  # the number of the last order
    Column("heard", Count, nullable=False),  # the number of the last order that the driver took
    Column("received", Count, nullable=False),  # the number of the driver's last message
    Column("hello", Text, nullable=False),  # JSON
    Column("fence", Instant),  # the latest fence that the driver ever got
    Column("ended_at", Instant),
    Column("reason", Text, nullable=False),
    Column("pool", Text, nullable=False),
    Index("ix_drivers_owner", "owner"),
    Index("ix_drivers_ended_at", "ended_at"),
)

# The orders that a driver has not taken yet. The first order contains the catalogs' secrets; its
# row is deleted as soon as the driver has taken the order.
driver_orders = Table(
    "driver_orders",
    metadata,
    owned_by("driver", "drivers.name"),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("document", Packed, nullable=False),  # JSON
)

driver_messages = Table(
    "driver_messages",
    metadata,
    owned_by("driver", "drivers.name"),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("job_id", name_type(), nullable=False),  # empty: a message about the driver itself
    Column("event", Text, nullable=False),
    Column("document", Packed, nullable=False),  # JSON
)

# The jobs that a driver was ordered to run and that have not ended.
driver_jobs = Table(
    "driver_jobs",
    metadata,
    owned_by("driver", "drivers.name"),
    Column("job_id", name_type(), primary_key=True),
    Column("until", Instant, nullable=False),
)

# The processes that own remote drivers, with the number of their heartbeats.
processes = Table(
    "processes",
    metadata,
    Column("owner", name_type(), primary_key=True),
    Column("beats", Count, nullable=False),  # -1: the process has ended normally
    Column("seen_at", Instant, nullable=False),
)
