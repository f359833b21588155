"""The roles of the daemon's replicas."""

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
        """Whether the replica scans, plans and runs jobs."""
        return self in {Role.ALL, Role.WORKER}

    @property
    def serves_api(self) -> bool:
        """Whether the replica serves the API and the page, and not only the probes."""
        return self in {Role.ALL, Role.API}

    @property
    def serves_link(self) -> bool:
        """Whether drivers poll the replica."""
        return self is not Role.API
