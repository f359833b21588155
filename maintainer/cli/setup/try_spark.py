"""The checks of `maintainer doctor --spark`: start Spark, and maintain a scratch table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from maintainer.adapters.clock import SystemClock
from maintainer.adapters.spark.prerequisites import Finding
from maintainer.adapters.spark.statements.job import (
    create_scratch,
    drop_scratch,
    rewrite_scratch,
)
from maintainer.adapters.spark.trial import Trial
from maintainer.adapters.store import open_store
from maintainer.app import spark_catalogs
from maintainer.app.spark import open_trials, serve_links
from maintainer.decide.spark_fitness import find_faults, find_old_versions
from maintainer.domain.driver import SparkFacts
from maintainer.domain.errors import ConfigurationError, MaintainerError
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.settings import Settings

_CALL_TIMEOUT = timedelta(minutes=2)  # for a step on a scratch table
_SCRATCH_FILES = 2
_LEAST_LEVELS = 2  # a catalog and a namespace


@dataclass(frozen=True, slots=True)
class Scratch:
    """A namespace in which a trial may create a table."""

    catalog: str
    namespace: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, settings: Settings) -> Scratch:
        """Read ``catalog.namespace``; ConfigurationError if the catalog is not configured."""
        levels = split_levels(text)
        if len(levels) < _LEAST_LEVELS or levels[0] not in settings.catalogs:
            raise ConfigurationError(
                f"--scratch is {text!r}; it must be catalog.namespace, with one of the catalogs "
                f"{', '.join(sorted(settings.catalogs))}"
            )
        return cls(levels[0], levels[1:])

    def make_table(self) -> TableIdentifier:
        """Return a name that no table has."""
        return TableIdentifier(self.catalog, self.namespace, f"maintainer_doctor_{uuid4().hex}")


def try_spark(settings: Settings, places: Sequence[Scratch]) -> Iterator[Finding]:
    """Start a driver in each pool as a job would, and maintain a new table in each namespace.

    At the end the drivers are ended and the tables are dropped.
    """
    reachable, _ = spark_catalogs(settings)
    clock = SystemClock()
    with (
        closing(open_store(settings.store)) as store,
        serve_links(settings, store, clock, is_shared=True) as ports,
    ):
        for name, trial in open_trials(settings, store, clock, reachable, ports):
            where = "" if len(settings.spark.every_pool) == 1 else f" (pool {name})"
            if isinstance(trial, str):
                yield f"Spark starts{where}", False, trial
                continue
            with closing(trial):
                yield from try_pool(trial, places, where)


def try_pool(trial: Trial, places: Sequence[Scratch], where: str = "") -> Iterator[Finding]:
    """Try one pool; a namespace is left out if its catalog could not be loaded."""
    began = time.monotonic()
    try:
        facts = trial.start()
    except MaintainerError as error:
        yield f"Spark starts{where}", False, str(error)
        return
    yield f"Spark starts{where}", True, f"its driver was ready in {time.monotonic() - began:.0f} s"
    yield from judge_facts(facts, where)
    for place in places:
        if facts.catalogs.get(place.catalog) == "":
            yield from _try_table(trial, place, where)


def judge_facts(facts: SparkFacts, where: str = "") -> Iterator[Finding]:
    """Yield what the reported versions and catalogs of a driver mean for jobs."""
    for name, error in facts.catalogs.items():
        if error:
            yield f"catalog {name} in Spark{where}", False, f"Spark could not load it: {error}"
    old = tuple(find_old_versions(facts))
    versions = ", ".join(
        f"{name} {version or 'unknown'}"
        for name, version in (
            ("Spark", facts.spark),
            ("Scala", facts.scala),
            ("Java", facts.java),
            ("Iceberg", facts.iceberg),
        )
    )
    yield (
        f"Spark driver{where}",
        not old,
        "; ".join((f"{versions} (at {facts.at:%F %T} UTC)", *old)),
    )
    for rule, fault in find_faults(facts):
        yield f"rule {rule}{where}", True, f"restricted: {fault.sentence}"


def _try_table(trial: Trial, place: Scratch, where: str) -> Sequence[Finding]:
    table = place.make_table()
    what = f"CALL in {table.catalog}.{table.namespace_text}{where}"
    began = time.monotonic()
    remains: Sequence[Finding] = ()
    try:
        trial.run(create_scratch(table), _CALL_TIMEOUT)
        result = trial.run(rewrite_scratch(table), _CALL_TIMEOUT)
        count = result.get("rewritten_data_files_count")
        is_fine = count == _SCRATCH_FILES
        sentence = (
            f"rewrote {count} of {_SCRATCH_FILES} files of a scratch table in "
            f"{time.monotonic() - began:.1f} s"
        )
    except MaintainerError as error:
        is_fine, sentence = False, str(error)
    finally:
        remains = _drop(trial, table)
    return (what, is_fine, sentence), *remains


def _drop(trial: Trial, table: TableIdentifier) -> Sequence[Finding]:
    """Drop the table; return a finding only if the table or its files remain."""
    try:
        trial.run(drop_scratch(table, with_files=True), _CALL_TIMEOUT)
    except MaintainerError as error:
        try:
            trial.run(drop_scratch(table, with_files=False), _CALL_TIMEOUT)
        except MaintainerError:
            return [("scratch table", False, f"{table} may remain; drop it by hand: {error}")]
        return [("scratch table", False, f"{table} is dropped, but its files remain: {error}")]
    return []
