"""The state of each policy's tables, and versions of policies, from the store alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import Band
from maintainer.domain.job import Job
from maintainer.domain.policy import PolicyLayer, PolicyProblem
from maintainer.domain.policy_version import PolicyChange, PolicyStatus, PolicyVersion
from maintainer.policy.ambiguity import find_ambiguities
from maintainer.policy.layering import LayerIndex
from maintainer.policy.unmatched import find_unmatched
from maintainer.policy.versions import compare_layers, version_of
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.ports.store.tables import TableQuery, TableRecord, TableStore

_BANDS = tuple(Band)  # best first
_MAX_PREFIXES = 100  # in one query; with more, all tables are read
CURRENT = "current"  # names the version in force wherever a version is expected


@dataclass(slots=True)
class _Sums:
    """The sums over one policy's tables so far."""

    tables: int = 0
    band: Band | None = None
    data_files: int = 0
    data_bytes: int = 0
    next_check_at: datetime | None = None

    def add(self, record: TableRecord) -> None:
        self.tables += 1
        if record.grade is not None:
            worse = (self.band or record.grade.band, record.grade.band)
            self.band = max(worse, key=_BANDS.index)
        if record.health is not None:
            self.data_files += record.health.data_files or 0
            self.data_bytes += record.health.data_bytes or 0
        checks = [at for at in (self.next_check_at, record.next_plan_at) if at is not None]
        self.next_check_at = min(checks, default=None)


def find_silent_problems(ports: Ports) -> tuple[PolicyProblem, ...]:
    """The refused parts of the policies, and the patterns that select no known table."""
    policies = ports.policies.current()
    return (
        *policies.problems,
        *find_idle_patterns(ports.store, policies.layers, ports.catalogs),
    )


def find_idle_patterns(
    store: TableStore, layers: Collection[PolicyLayer], catalogs: Collection[str]
) -> tuple[PolicyProblem, ...]:
    """The patterns that select none of the tables which the last scans listed."""
    listed = [
        name
        for name, costs in store.scan_costs().items()
        if any(cost.is_complete for cost in costs)
    ]
    return find_unmatched(layers, store.table_names(), catalogs, listed)


def find_statuses(ports: Ports, layers: Sequence[PolicyLayer]) -> Mapping[str, PolicyStatus]:
    """The status of each layer, by its name."""
    if not layers:
        return {}
    index = LayerIndex(layers)
    sums = [_Sums() for _ in layers]
    for record in _list_tables(ports, _find_prefixes(layers)):
        for number in index.find(str(record.table)):
            sums[number].add(record)
    jobs = _find_last_jobs(ports, index)
    policies = ports.policies.current()
    problems = (*policies.problems, *find_ambiguities(policies))
    return {
        layer.name: PolicyStatus(
            tables=one.tables,
            band=one.band,
            average_file_size_bytes=one.data_bytes / one.data_files if one.data_files else None,
            last_job=jobs.get(number),
            next_check_at=one.next_check_at,
            problems=tuple(_find_problems(problems, layer.name)),
        )
        for number, (layer, one) in enumerate(zip(layers, sums, strict=True))
    }


def _find_prefixes(layers: Iterable[PolicyLayer]) -> tuple[str, ...] | None:
    """The fewest prefixes that all names of the layers' tables have; None: too many."""
    wanted: list[str] = []
    found = {pattern.prefix.rpartition(".") for layer in layers for pattern in layer.tables}
    for prefix in sorted(before + dot for before, dot, _ in found):
        if not wanted or not prefix.startswith(wanted[-1]):
            wanted.append(prefix)
    return tuple(wanted) if "" not in wanted and len(wanted) <= _MAX_PREFIXES else None


def _list_tables(ports: Ports, within: tuple[str, ...] | None) -> Iterator[TableRecord]:
    cursor: str | None = None
    while True:
        page = ports.store.tables(TableQuery(limit=MAX_PAGE, cursor=cursor, within=within))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _find_last_jobs(ports: Ports, index: LayerIndex) -> Mapping[int, Job]:
    """The newest job of each layer among the newest MAX_PAGE jobs of all tables."""
    found: dict[int, Job] = {}
    for job in ports.store.jobs(JobQuery(limit=MAX_PAGE)).items:
        for number in index.find(str(job.table)):
            found.setdefault(number, job)
    return found


def _find_problems(problems: Iterable[PolicyProblem], name: str) -> Iterator[str]:
    """Find the problems of the layer's values; a value's source is NAME:PATH."""
    for problem in problems:
        if problem.source.startswith(f"{name}:"):
            yield f"{problem.source.removeprefix(f'{name}:')}: {problem.message}"
        elif f" {name}:" in problem.message:
            yield f"{problem.source}: {problem.message}"


def compare_versions(ports: Ports, before: str, after: str = CURRENT) -> tuple[PolicyChange, ...]:
    """The changes from one version to another; InvalidValueError for an unknown version."""
    return compare_layers(_find_version(ports, before).layers, _find_version(ports, after).layers)


def _find_version(ports: Ports, name: str) -> PolicyVersion:
    if name == CURRENT:
        return version_of(ports.policies.current(), ports.clock.now())
    found = ports.store.policy_version(name)
    if found is None:
        raise InvalidValueError(
            f"no policy version {name!r} is kept; `maintainer policies versions` lists those "
            f"that are"
        )
    return found
