"""What holds for every test: a quiet loopback-only environment, Hypothesis profiles, and tests
whose programs are missing.

A test whose program is missing is skipped and named at the very end of the run; with CI=true or
MAINTAINER_REQUIRE_ALL=1 it fails instead.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling, LoadScopeScheduling  # type: ignore[import-untyped]

from tests.examples import FAST, FULL
from tests.prerequisites import PREREQUISITES, find_missing
from tests.shares import FIRST, PURE, SECOND, belongs

NOT_RUN = "not run for want of "
FIGURES = "figures"
# Whose files share what is slow to make: the lake of the demo, and a Spark.
TOGETHER = ("tests/adapters/demo/", "tests/conformance/")
# The folders whose tests must reach every branch of the pure folders, by examples that are written
# down: what random examples reach differs from run to run. A trace makes Python several times
# slower, so the other tests run without one.
COVERING = tuple(f"tests/{folder}/" for folder in PURE)
LOOPBACK = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}
SWITCHES = ("MAINTAINER_REQUIRE_ALL",)

# No deadline: the time of one example says more about the machine's other work than about the code.
settings.register_profile("fast", deadline=None, max_examples=FAST)
settings.register_profile("full", deadline=None, max_examples=FULL)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=100,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "full")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", choices=(FIRST, SECOND), help="run one share of the tests alone")


def requires_all() -> bool:
    return os.environ.get("CI") == "true" or os.environ.get("MAINTAINER_REQUIRE_ALL") == "1"


def pytest_configure() -> None:
    """The user's own configuration must not reach the daemon under test, nor a proxy its loopback
    requests.
    """
    for name in [
        name for name in os.environ if name.startswith("MAINTAINER_") and name not in SWITCHES
    ]:
        del os.environ[name]
    os.environ.update(LOOPBACK)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is collected lives as long as the process: the garbage collector need not walk through
    a million such objects again and again, neither now nor during the tests.
    """
    gc.disable()
    try:
        if _coverage(session.config) is not None:
            _import_the_pure_folders()
        _trace(session.config, is_wanted=False)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_the_pure_folders() -> None:
    """Their first lines run once, and that is while coverage looks."""
    for folder in PURE:
        package = import_module(f"maintainer.{folder}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def _coverage(config: pytest.Config) -> Any:
    """What pytest-cov pauses and resumes, or None without --cov."""
    return getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)


def _trace(config: pytest.Config, *, is_wanted: bool) -> None:
    """Trace from now on, or do not; to begin and to end takes a few microseconds."""
    coverage = _coverage(config)
    if coverage is not None and coverage.started != is_wanted:
        (coverage.resume if is_wanted else coverage.pause)()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --share, do not even import the other tests."""
    return None if _is_in_share(collection_path, config) else True


def _is_in_share(path: Path, config: pytest.Config) -> bool:
    share = config.getoption("share")
    return share is None or belongs(path.relative_to(config.rootpath), share)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What may take longest comes first: of two processes none shall begin with it when the other
    has nothing left. A file that is named on the command line is collected in any case.
    """
    others = [item for item in items if not _is_in_share(item.path, config)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _is_in_share(item.path, config)]
    items.sort(
        key=lambda item: (
            -_limit_of(item),
            *(item.get_closest_marker(name) is None for name in ("spark", "slow")),
        )
    )


def _limit_of(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark is not None and mark.args else 0.0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """File by file, but what several files share is made once: they go to one process together."""
    return FilesTogether(config, log) if config.getoption("dist") == "loadfile" else None


class FilesTogether(LoadFileScheduling):  # type: ignore[misc] # its types are not published
    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((place for place in TOGETHER if file.startswith(place)), file)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Trace what prepares the tests of COVERING."""
    return (yield from _traced(request.node))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Trace the tests of COVERING, without those whose examples are random."""
    return (yield from _traced(pyfuncitem))


def _traced(node: pytest.Item | pytest.Collector) -> Generator[None, object, object]:
    """With --cov, trace one call of the tests' own functions: pytest runs more lines around them
    than they do.
    """
    is_random = node.get_closest_marker("hypothesis") is not None
    _trace(node.config, is_wanted=node.nodeid.startswith(COVERING) and not is_random)
    try:
        return (yield)
    finally:
        _trace(node.config, is_wanted=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = find_missing(mark.name for mark in item.iter_markers())
    if missing is None:
        return
    reason = f"{NOT_RUN}{missing.name}; {missing.advice}"
    if requires_all():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    _tell_figures(terminalreporter)
    reasons: Counter[str] = Counter()
    for report in terminalreporter.getreports("skipped"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        reasons[reason.removeprefix("Skipped: ")] += 1
    wanting = {reason: count for reason, count in reasons.items() if reason.startswith(NOT_RUN)}
    if not wanting:
        return
    terminalreporter.section("NOT RUN", sep="!", red=True, bold=True)
    for reason, count in sorted(wanting.items()):
        terminalreporter.line(f"{count} {'test' if count == 1 else 'tests'} {reason}", red=True)
    markers = ", ".join(needed.marker for needed in PREREQUISITES)
    terminalreporter.line(
        f"The rest of this run is complete; MAINTAINER_REQUIRE_ALL=1 makes such tests "
        f"({markers}) fail.",
        red=True,
    )


def _tell_figures(terminalreporter: pytest.TerminalReporter) -> None:
    """What a test has measured, recorded by it as the property FIGURES: shown at the end, whichever
    process ran it.
    """
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    for report in reports:
        for name, figures in report.user_properties:
            if name == FIGURES:
                terminalreporter.section(report.nodeid)
                terminalreporter.line(str(figures))
