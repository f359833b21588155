"""What a run must have had to say anything: where nothing happened, nothing is lost either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from re import compile as compile_regex
from typing import Any

from tests.torture.chaos import Event
from tests.torture.schedule import Trouble

# from here on everything is asked for; of a shorter run its share of jobs and commits alone
LONG_MINUTES = 30.0
LEAST_JOBS = 100
LEAST_COMMITS = 300  # of writers
WORKS = (
    "rewrite_data_files binpack",
    "rewrite_data_files sort",
    "rewrite_data_files zorder",
    "rewrite_position_delete_files",
    "rewrite_manifests",
    "expire_snapshots",
    "remove_orphan_files",
    "compute_table_stats",
    "compute_partition_stats",
)
_SORT = compile_regex(r"strategy => 'sort'")
_ZORDER = compile_regex(r"sort_order => 'zorder\(")


@dataclass(frozen=True, slots=True)
class Minimum:
    """One thing of which there must have been enough."""

    name: str
    least: int
    found: int

    @property
    def is_met(self) -> bool:
        """There was enough of it."""
        return self.found >= self.least


def name_work(job: Mapping[str, Any]) -> str:
    """The job's procedure, and of a rewrite of data files its strategy."""
    if job["rule"] != "rewrite_data_files":
        return str(job["rule"])
    strategy = (
        "zorder"
        if _ZORDER.search(job["action"])
        else "sort"
        if _SORT.search(job["action"])
        else "binpack"
    )
    return f"rewrite_data_files {strategy}"


def count_successes(jobs: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Of every kind of work, also of those that never succeeded."""
    counted = Counter(name_work(job) for job in jobs if job["state"] == "succeeded")
    return dict.fromkeys(WORKS, 0) | counted


def measure_minima(
    minutes: float,
    jobs: Sequence[Mapping[str, Any]],
    commits: int,
    *,
    events: Sequence[Event],
    troubles: Sequence[Trouble],
    strays_removed: int,
) -> list[Minimum]:
    """What is asked for of a run of these minutes with these troubles, and what there was."""
    share = min(1.0, minutes / LONG_MINUTES)
    minima = [
        Minimum("jobs", int(LEAST_JOBS * share), len(jobs)),
        Minimum("commits of writers", int(LEAST_COMMITS * share), commits),
    ]
    if minutes < LONG_MINUTES:
        return minima
    hits = Counter(event.trouble for event in events if event.has_hit)
    minima += [
        Minimum(f"succeeded {work}", 1, number) for work, number in count_successes(jobs).items()
    ]
    minima += [Minimum(f"hit by {trouble.value}", 1, hits[trouble]) for trouble in troubles]
    return [*minima, Minimum("orphan files removed", 1, strays_removed)]
