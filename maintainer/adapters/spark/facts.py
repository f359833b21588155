"""Reads what a driver reports about its Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from maintainer.domain.redaction import redact_url
from maintainer.domain.spark_facts import SparkFacts


def digest_settings(fingerprints: Collection[str]) -> str:
    """Return what stands for the settings of all drivers, as these fingerprints do for each."""
    return sha256(" ".join(sorted(fingerprints)).encode()).hexdigest()[:16]


def read_facts(said: Mapping[str, object], settings: str) -> SparkFacts:
    """Return the facts of a message; what it lacks is unknown."""
    at, catalogs = said.get("at"), said.get("catalogs")
    return SparkFacts(
        at=datetime.fromtimestamp(at if isinstance(at, float) else 0.0, UTC),
        settings=settings,
        spark=str(said.get("spark") or ""),
        scala=str(said.get("scala") or ""),
        java=str(said.get("java") or ""),
        iceberg=str(said.get("iceberg") or ""),
        catalogs={str(name): redact_url(str(error)) for name, error in catalogs.items()}
        if isinstance(catalogs, Mapping)
        else {},
    )
