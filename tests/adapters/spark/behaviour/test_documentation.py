"""docs/spark.md says truly which part of the suite runs on which runner, and when."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from tests.adapters.spark.behaviour import (
    on_clusters,
    test_http,
    test_kubernetes,
    test_socket,
    test_standalone,
    test_yarn,
)
from tests.adapters.spark.behaviour.cancelling import CancellingSuite
from tests.adapters.spark.behaviour.link_suite import LinkSuite
from tests.adapters.spark.behaviour.suite import DriverSuite, LauncherSuite
from tests.end_to_end import on_other_runners, places, test_replicas
from tests.project.repository import read_text

RUNNERS = {
    "socket": (test_socket, places.on_sockets),
    "polling": (test_http, places.on_this_machine),
    "standalone": (test_standalone, places.on_standalone),
    "kubernetes": (test_kubernetes, places.on_kubernetes),
    "yarn": (test_yarn, places.on_yarn),
}
ROWS = {
    LauncherSuite: "finishing, failing, cancelling, an application ended by hand, a killed driver, "
    "adoption after SIGKILL of the daemon",
    DriverSuite: "lists of orphans, a job that nobody renews, a task without memory, a killed JVM",
    CancellingSuite: "cancelling in the middle of each procedure",
    LinkSuite: "a link that is cut for 30 seconds and for ever, a driver that stands still",
    "replicas": "three replicas that restart in the middle of a rewrite",
}
ALWAYS, RELEASE, NEVER = "each run", "release", "-"


def _cells(row: object) -> Iterator[str]:
    for name, (module, surround) in RUNNERS.items():
        if row == "replicas":
            is_always = surround in test_replicas.PLACES
            is_at_release = surround in on_other_runners.PLACES
        else:
            is_always = row in _classes_under_test(module)
            is_at_release = name in on_clusters.CLUSTERS and row in _classes_under_test(on_clusters)
        yield ALWAYS if is_always else RELEASE if is_at_release else NEVER


def _classes_under_test(module: ModuleType) -> set[type]:
    own = [kind for name, kind in vars(module).items() if name.startswith("Test")]
    return {base for kind in own for base in kind.__mro__}


def test_the_table_says_what_runs_where() -> None:
    page = read_text("docs/spark.md")
    for row, words in ROWS.items():
        assert f"| {words} | {' | '.join(_cells(row))} |" in page


def test_no_step_is_left_out_on_a_runner_but_the_link_of_a_socket() -> None:
    missing = [(row, cell) for row in ROWS for cell in _cells(row) if cell == NEVER]
    assert missing == [(LinkSuite, NEVER)]
