"""`maintainer doctor`: check everything that the daemon needs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from maintainer.adapters.catalog.reader import MetadataReader
from maintainer.adapters.catalog.trial import Trial
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.spark.catalogs import (
    jars_of_location,
    needed_databases,
    needed_jars,
)
from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.launcher.kubernetes.launcher import KubernetesLauncher
from maintainer.adapters.spark.launcher.yarn.launcher import YarnLauncher
from maintainer.adapters.spark.pins import SETS
from maintainer.adapters.spark.prerequisites import Finding, find_prerequisites
from maintainer.adapters.store import open_store
from maintainer.api.page import PAGE_DIRECTORY
from maintainer.app import open_catalogs, spark_catalogs
from maintainer.app.options import (
    kubernetes_options,
    read_limits,
    run_dir,
    spark_options,
    yarn_options,
)
from maintainer.app.policies import open_policies
from maintainer.cli.setup.try_spark import Scratch, judge_facts, try_spark
from maintainer.cli.state import open_known
from maintainer.domain.errors import ConfigurationError, MaintainerError, StoreUnavailableError
from maintainer.domain.location import Aliases
from maintainer.domain.policy import PolicyProblem, PolicySet
from maintainer.domain.units import format_count
from maintainer.policy.ambiguity import find_ambiguities
from maintainer.policy.unmatched import find_unmatched
from maintainer.ports.catalog import Catalog
from maintainer.requests.policy_status import find_idle_patterns
from maintainer.settings import Settings
from maintainer.settings.paths import find_sqlite_directory, is_missing_sqlite
from maintainer.settings.spark import PoolSettings
from maintainer.settings.spark.clusters import LinkSettings

DEFAULT_POLICIES = str(Settings.model_fields["policies"].default)


def open_trials(settings: Settings, reader: MetadataReader) -> dict[str, Trial]:
    """Return a trial for each catalog, which has not begun."""
    return {
        name: Trial(
            name,
            catalog.properties,
            Aliases(tuple(catalog.locations.items())),
            reader,
            SystemClock(),
        )
        for name, catalog in settings.catalogs.items()
    }


def try_catalog(settings: Settings, name: str, trial: Trial) -> Iterator[Finding]:
    """Yield what works and what fails, and then the jars that jobs on the found tables lack."""
    what = f"catalog {name}"
    for is_fine, sentence in trial.run():
        yield what, is_fine, sentence
    for sentence in find_missing_jars(settings, name, trial.locations):
        yield what, False, sentence


def find_missing_jars(settings: Settings, name: str, locations: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each set of jars that a pool lacks; pools with an image are left out."""
    spark = spark_catalogs(settings)[0].get(name)
    if spark is None:  # another finding says why Spark cannot use this catalog
        return
    sets = needed_jars(spark).union(*(jars_of_location(place, spark) for place in locations))
    for pool_name, pool in settings.spark.every_pool.items():
        if pool.kubernetes is not None:  # the pool's image has the jars
            continue
        directory = pool.jars_dir or default_directory()
        for one in sorted(sets):
            missing = [
                jar.file_name for jar in SETS[one] if not (directory / jar.file_name).is_file()
            ]
            if missing:
                yield (
                    f"cannot run jobs in pool {pool_name}: jar {', '.join(missing)} is missing in "
                    f"{directory}. To fix: maintainer jars fetch --with {one}"
                )


@dataclass(frozen=True, slots=True)
class Check:
    """A check, which may take long or never end."""

    what: str
    ask: Callable[[], Iterable[Finding]]
    step: Callable[[], str] = str  # what the check does now, such as "list tables"; "" if unknown


def run_checks(checks: Sequence[Check], seconds: float, note: Callable[[Finding], None]) -> None:
    """Run all checks in parallel, and report each finding as soon as it is known.

    If a check does not answer in time, this is a finding too. Its thread continues.
    """
    answers: SimpleQueue[tuple[Check, Finding | None]] = SimpleQueue()
    for check in checks:
        Thread(
            target=partial(_answer, check, answers), name=f"check-{check.what}", daemon=True
        ).start()
    waiting = list(checks)
    deadline = time.monotonic() + seconds
    while waiting:
        try:
            check, finding = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            break
        if finding is None:
            waiting.remove(check)
        else:
            note(finding)
    for check in waiting:
        step = check.step()
        note((check.what, False, f"no answer within {seconds:g} s{_explain_wait(step)}"))


def _explain_wait(step: str) -> str:
    """Return the step that did not end, and what to do."""
    return step and (
        f" to the attempt to {step}. To fix: check the address of the server, and that no "
        f"firewall drops the connection; or allow more time with --deadline"
    )


def _answer(check: Check, answers: SimpleQueue[tuple[Check, Finding | None]]) -> None:
    """Put each finding into the queue, and None when the check has ended."""
    try:
        for finding in check.ask():
            answers.put((check, finding))
    except MaintainerError as error:
        answers.put((check, (check.what, False, str(error))))
    except Exception as error:  # noqa: BLE001 - the other checks must still report
        answers.put((check, (check.what, False, f"{type(error).__name__}: {error}")))
    answers.put((check, None))


def diagnose(
    load: Callable[[], Settings],
    seconds: float,
    note: Callable[[Finding], None],
    scratch: Sequence[str] | None = None,
) -> None:
    """Run all checks; without a usable configuration, only the checks that do not need it.

    If ``scratch`` is given, even empty, Spark is started at the end, and a procedure is called on a
    new table in each of these namespaces.
    """
    page = Check("web page", _find_page)
    try:
        settings = load()
    except ConfigurationError as error:
        note(
            (
                "configuration",
                False,
                f"{error}; only the parts that need no configuration were checked",
            )
        )
        run_checks(
            [
                Check("Spark", partial(find_prerequisites, None, default_directory())),
                page,
            ],
            seconds,
            note,
        )
        return
    places = [Scratch.parse(text, settings) for text in scratch or ()]
    with closing(MetadataReader(read_limits(settings))) as reader:
        checks = [
            Check("Spark", partial(_find_spark, settings)),
            Check("link", partial(_find_link, settings)),
            *(
                Check(f"catalog {name}", partial(try_catalog, settings, name, trial), trial.step)
                for name, trial in open_trials(settings, reader).items()
            ),
            Check("store", partial(_find_store, settings.store)),
            Check("Spark driver", partial(_find_driver, settings.store)),
            Check("policies", partial(_find_policies, settings)),
            page,
        ]
        run_checks(checks, seconds, note)
    if scratch is not None:
        for finding in try_spark(settings, places):
            note(finding)


def ping_catalogs(settings: Settings, seconds: float) -> Sequence[Finding]:
    """Check that each catalog answers in time."""
    found: list[Finding] = []
    with closing(MetadataReader()) as reader:
        catalogs = open_catalogs(settings, SystemClock(), reader)
        run_checks(
            [
                Check(f"catalog {name}", partial(_ping, catalog))
                for name, catalog in catalogs.items()
            ],
            seconds,
            found.append,
        )
        for catalog in catalogs.values():
            catalog.close()
    return found


def _find_spark(settings: Settings) -> Iterator[Finding]:
    reachable, reasons = spark_catalogs(settings)
    for name, reason in reasons.items():
        yield (
            f"catalog {name} in Spark",
            False,
            f"{reason}; its tables are measured, and no job runs on them",
        )
    sets = frozenset().union(*map(needed_jars, reachable.values()))
    databases = frozenset().union(*map(needed_databases, reachable.values()))
    pools = settings.spark.every_pool
    for name, pool in pools.items():
        where = "" if len(pools) == 1 else f" (pool {name})"
        for what, is_fine, sentence in _describe_pool(settings, name, pool, sets, databases):
            yield f"{what}{where}", is_fine, sentence


def _describe_pool(
    settings: Settings,
    name: str,
    pool: PoolSettings,
    sets: Collection[str],
    databases: Collection[str],
) -> Iterable[Finding]:
    if pool.kubernetes is not None:  # the pool's image has Java, Spark and the jars
        return KubernetesLauncher(kubernetes_options(pool.kubernetes), "").describe()
    if pool.yarn is not None:
        here, yarn = spark_options(settings, name), yarn_options(pool.yarn)
        return YarnLauncher(here, yarn, "", run_dir(settings, name)).describe()
    jars = pool.jars_dir or default_directory()
    given = spark_options(settings, name).given_jars
    return find_prerequisites(pool.java_home, jars, sets, given, databases)


def _find_link(settings: Settings) -> Iterator[Finding]:
    """Yield the address that drivers poll, or the first file of the link that cannot be read."""
    links = [pool.link for pool in settings.spark.every_pool.values() if pool.link is not None]
    for number, link in enumerate(links):
        if link not in links[:number]:
            yield _judge_link(link)


def _judge_link(link: LinkSettings) -> Finding:
    for what in ("certificate", "key", "authority"):
        path = getattr(link, what)
        if path is not None and not os.access(path, os.R_OK):
            return "link", False, f"spark.link.{what} {path} cannot be read"
    return "link", True, f"drivers poll {link.address_at(link.port)}"


def _ping(catalog: Catalog) -> Iterator[Finding]:
    yield f"catalog {catalog.name}", True, catalog.ping()


def _find_store(url: str) -> Iterator[Finding]:
    if is_missing_sqlite(url):
        yield _judge_new_store(find_sqlite_directory(url) or Path())
        return
    with closing(open_store(url)) as store:
        yield "store", True, store.describe()


def _find_driver(url: str) -> Iterator[Finding]:
    """Yield what the last driver of each pool reported about its Spark."""
    if is_missing_sqlite(url):
        return
    with closing(open_store(url)) as store:
        known = store.spark_facts()
    for facts in known.values():
        yield from judge_facts(facts, "" if len(known) == 1 else f" (pool {facts.pool})")


def _judge_new_store(directory: Path) -> Finding:
    if directory.is_dir() and os.access(directory, os.W_OK):
        return "store", True, f"it does not exist yet; the first scan creates it in {directory}"
    return (
        "store",
        False,
        (
            f"it does not exist and cannot be created: {directory} is not a directory that this "
            "user may write to"
        ),
    )


def _find_policies(settings: Settings) -> Iterator[Finding]:
    directory = settings.policies
    if (
        settings.polaris_policies is None
        and settings.kubernetes_policies is None
        and directory.name == DEFAULT_POLICIES
        and not directory.exists()
    ):
        yield (
            "policies",
            True,
            f"no directory {directory}: every table is observed, and none is changed",
        )
        return
    with closing(open_policies(settings)) as sources:
        policies = sources.policies.current()
    idle = find_unmatched(policies.layers, (), settings.catalogs, ())
    # A store that cannot be read is a finding of its own.
    with suppress(StoreUnavailableError), open_known(settings) as store:
        if store is not None:
            idle = find_idle_patterns(store, policies.layers, settings.catalogs)
    yield from judge_policies(policies, directory, idle)


def judge_policies(
    policies: PolicySet, directory: Path, idle: Iterable[PolicyProblem] = ()
) -> Iterator[Finding]:
    """Yield each problem and note; the number of layers if there is no problem.

    idle: the patterns that select no table.
    """
    problems = (*policies.problems, *find_ambiguities(policies), *idle)
    yield from (
        ("policy", problem.is_note, f"{problem.source}: {problem.message}") for problem in problems
    )
    if all(problem.is_note for problem in problems):
        yield (
            "policies",
            True,
            f"{format_count(len(policies.layers), 'layer')}, those of files from {directory}",
        )


def _find_page() -> Iterator[Finding]:
    if (PAGE_DIRECTORY / "index.html").is_file():
        yield "web page", True, "built"
    else:
        yield "web page", False, "not built; `make web` builds it (the API works without it)"
