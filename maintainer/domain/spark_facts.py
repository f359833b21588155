"""What a started Spark driver reports: its versions, and which catalogs it could load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from re import compile as compile_regex

from maintainer.domain.pool import DEFAULT_POOL

Version = tuple[int, ...]

_NUMBERS = compile_regex(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """What one driver reported after its start. An empty version is unknown."""

    at: datetime
    settings: str  # a hash of the runner's settings; under other settings the facts are not valid
    spark: str = ""
    scala: str = ""
    java: str = ""
    iceberg: str = ""
    # why Spark could not load each catalog, in one line; empty: Spark has loaded it
    catalogs: Mapping[str, str] = field(default_factory=dict)
    pool: str = DEFAULT_POOL


def read_version(text: str) -> Version | None:
    """The first three numbers of a version, missing ones as 0; None when it has none."""
    found = _NUMBERS.match(text)
    return None if found is None else tuple(int(number or 0) for number in found.groups())


def write_version(version: Version) -> str:
    return ".".join(map(str, version[:2] if not any(version[2:]) else version))
