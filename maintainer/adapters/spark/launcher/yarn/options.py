"""The options of drivers and executors on YARN."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class YarnOptions:
    """The cluster, the queue, the user, and the resources of each driver."""

    resource_managers: tuple[str, ...]  # addresses of their REST API; one of them is active
    hadoop_conf_dir: Path | None = None  # None: $HADOOP_CONF_DIR
    queue: str = "default"
    user: str = ""  # for clusters without authentication; empty: the user of the daemon
    principal: str = ""
    keytab: Path | None = None
    python: str = "python3"  # the program on the nodes
    driver_cores: int = 2
    # container memory beyond the heap, as a share of the heap; at least MINIMUM_OVERHEAD_MEGABYTES
    driver_overhead: float = 0.25
    executor_overhead: float = 0.1
    authority: Path | None = None  # PEM file of the managers' authority; None: those of the system
    timeout_seconds: float = 10.0  # for each request to a resource manager
