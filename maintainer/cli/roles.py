"""What one replica of the daemon does."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """The part of the daemon that a process runs."""

    ALL = "all"
    API = "api"
    WORKER = "worker"
    LINK = "link"

    @property
    def works(self) -> bool:
        """True when it scans, plans and runs jobs."""
        return self in {Role.ALL, Role.WORKER}

    @property
    def serves_api(self) -> bool:
        """True when it serves the API and the page, and not only the probes."""
        return self in {Role.ALL, Role.API}

    @property
    def serves_link(self) -> bool:
        """True when drivers poll it."""
        return self is not Role.API
