"""Forget what is older than the store should keep."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from maintainer.steps.ports import Ports


def prune(ports: Ports, keep_samples: timedelta, keep_jobs: timedelta) -> Mapping[str, int]:
    """Delete samples and finished jobs beyond their ages; returns counts by kind."""
    now = ports.clock.now()
    return ports.store.prune(now - keep_samples, now - keep_jobs)
