"""Reads a driver's reports about itself and its Spark."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from hashlib import sha256

from maintainer.domain.driver import JobDriver, SparkFacts
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.redaction import redact_url

_MAX_DRIVERS = 100


def digest_settings(fingerprints: Collection[str]) -> str:
    """Return a fingerprint of the settings of all drivers, made from their fingerprints."""
    return sha256(" ".join(sorted(fingerprints)).encode()).hexdigest()[:16]


def read_facts(said: Mapping[str, object], settings: str, pool: str = DEFAULT_POOL) -> SparkFacts:
    """Return the facts in a message; missing facts are unknown."""
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
        pool=pool,
    )


class Reports:
    """The facts that drivers have reported about themselves and their Spark."""

    def __init__(self, fingerprints: Collection[str], pool: str = DEFAULT_POOL) -> None:
        """``fingerprints`` are those of the pool's drivers with the current settings."""
        self._fingerprints = fingerprints
        self._pool = pool
        self._settings = digest_settings(fingerprints)
        self._mutex = threading.Lock()
        self._drivers: dict[str, JobDriver] = {}  # the latest drivers, by name
        self.newest: SparkFacts | None = None  # under the current settings

    def recall(self, facts: SparkFacts) -> None:
        """Take facts of another process, if they are newer and under the current settings."""
        with self._mutex:
            if (facts.pool, facts.settings) == (self._pool, self._settings) and (
                self.newest is None or facts.at > self.newest.at
            ):
                self.newest = facts

    def of(self, name: str) -> JobDriver | None:
        """Return the known facts of a driver; None for no name."""
        return self._drivers.get(name, JobDriver(name)) if name else None

    def hear(self, name: str, fingerprint: str, message: Mapping[str, object]) -> None:
        """Take the facts of a driver from its message."""
        facts = message.get("facts")
        if isinstance(facts, Mapping) and fingerprint in self._fingerprints:
            self.recall(read_facts(facts, self._settings, self._pool))
        if "place" in message:
            with self._mutex:
                self._drivers[name] = read_driver(name, message)
                for forgotten in list(self._drivers)[:-_MAX_DRIVERS]:
                    del self._drivers[forgotten]


def read_driver(name: str, message: Mapping[str, object]) -> JobDriver:
    """Return the facts of a driver in a message; missing facts are unknown."""
    place, versions = _part(message, "place"), _part(message, "versions")
    process = place.get("process")
    return JobDriver(
        name,
        application_id=str(message.get("application_id") or ""),
        host=str(place.get("host") or ""),
        pod=str(place.get("pod") or ""),
        process=process if isinstance(process, int) else None,
        spark=str(versions.get("spark") or ""),
        scala=str(versions.get("scala") or ""),
        java=str(versions.get("java") or ""),
        iceberg=str(versions.get("iceberg") or ""),
    )


def _part(message: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = message.get(name)
    return value if isinstance(value, Mapping) else {}
