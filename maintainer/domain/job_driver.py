"""The driver that had a job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobDriver:
    """What a driver reported about itself. An empty text and None are unknown."""

    name: str
    application_id: str = ""  # Spark's
    host: str = ""  # of a pod its name
    pod: str = ""  # empty also where there are no pods
    process: int | None = None  # its number on the host
    spark: str = ""
    scala: str = ""
    java: str = ""
    iceberg: str = ""
