"""A transport that only notes what the driver says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Sayings:
    said: list[dict[str, Any]] = field(default_factory=list)
    left_at: float | None = None

    def send(self, event: str, job: str | None = None, **fields: object) -> None:
        self.said.append({"event": event, "job": job, **fields})

    def acknowledge(self, numbers: list[int]) -> None:
        raise NotImplementedError

    def flush(self, seconds: float) -> None:
        raise NotImplementedError
