"""The driver that had a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobDriver:
    """What a driver reported about itself. An empty text and None are unknown."""

    name: str
    application_id: str = ""  # Spark's id of the application
    host: str = ""  # for a pod, its name
    pod: str = ""  # empty if the driver is not a pod
    process: int | None = None  # the process number on the host
    spark: str = ""
    scala: str = ""
    java: str = ""
    iceberg: str = ""

    @property
    def ui_values(self) -> Mapping[str, str]:
        """What a template of an address of Spark's page may contain, by placeholder."""
        return {
            "application_id": self.application_id,
            "driver": self.name,
            "host": self.host,
            "pod": self.pod,
        }


UI_PLACEHOLDERS = tuple(JobDriver("").ui_values)
