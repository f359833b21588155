"""Pools: the ways of running Spark that an operator has configured."""

from __future__ import annotations

from dataclasses import dataclass
from re import compile as compile_regex

from maintainer.domain.job_size import SizeProfile

DEFAULT_POOL = "default"
MAX_POOL_NAME = 40  # characters

_NAME = compile_regex(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool, as far as decisions need it."""

    memory_gb: float = 1.0  # of one job
    tasks_at_once: int = 1  # Spark tasks of one job that run at the same time
    profiles: tuple[SizeProfile, ...] = ()  # empty: every job is small and takes memory_gb


def is_pool_name(text: str) -> bool:
    """True for lower-case letters, digits and inner dashes, MAX_POOL_NAME at most."""
    return len(text) <= MAX_POOL_NAME and _NAME.fullmatch(text) is not None
