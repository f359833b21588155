"""The worst that a lost answer does, through the daemon's own steps: it is found, the table is
paused, and the way back that is told is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.location import Aliases
from maintainer.domain.policy import RuleName
from maintainer.requests.pause import request_rollback
from maintainer.requests.run import request_run
from maintainer.steps.table import measure_table
from tests.adapters.spark.lakes import runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.torture.lake import CATALOG
from tests.torture.lost_answer import open_behind_proxy
from tests.torture.proxy import Proxy

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow]

# Without tag and reading, so that the job's one commit is the rewrite's.
POLICY = """
tables: "*"
mode: enforce
rollback_for: off
canary: off
rules:
  rewrite_manifests: {when: {manifest_count_above: 1}}
"""


@dataclass
class Stage:
    proxy: Proxy
    workshop: Workshop
    catalog: Any

    def count_rows(self) -> int:
        return int(self.catalog.load_table("db.unlisted").scan().to_arrow().num_rows)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Spark reaches the catalog through the proxy, the daemon's own reading does not."""
    with ExitStack() as stack:
        lake, catalog, proxy = stack.enter_context(open_behind_proxy(tmp_path))
        through = spark_configuration(CATALOG, lake.at_port(proxy.port).properties, {})
        seen = cast(
            "Any",
            SimpleNamespace(
                name=CATALOG,
                namespace=("db",),
                spark=through,
                properties=lake.properties,
                catalog=catalog,
                aliases=Aliases(),
            ),
        )
        (tmp_path / "run").mkdir()
        runner = runner_on([seen], tmp_path / "run", "lost-answer")
        stack.callback(runner.close)
        yield Stage(proxy, stack.enter_context(open_workshop(seen, runner, POLICY)), catalog)


def test_guard_25_a_rewrite_of_manifests_whose_answer_is_lost_is_found_and_rolled_back(
    stage: Stage,
) -> None:
    workshop = stage.workshop
    table = workshop.create(
        "unlisted",
        "id bigint",
        rows=tuple(f"SELECT id FROM range({first}, {first} + 3)" for first in (0, 3, 6)),
    )
    measure_table(workshop.ports, table)
    plan, job = request_run(workshop.ports, table, (RuleName.REWRITE_MANIFESTS,), "person")
    assert job is not None, plan.skipped
    stage.proxy.answers_to_lose = 1
    done = workshop.finish(job)
    assert stage.proxy.lost_answers == 1
    assert done.outcome is not None
    assert (done.outcome.kind, done.state, done.failure_reason) == (
        "failed",
        JobState.FAILED,
        FailureReason.UNPROVED,
    )
    assert "whose manifest list cannot be read" in done.failure_message
    assert f"`maintainer rollback {job.job_id}` sets the table back to it" in done.failure_message
    assert table in workshop.store.paused_tables()
    with pytest.raises(OSError, match="snap-"):
        stage.count_rows()
    undoing = workshop.finish(request_rollback(workshop.ports, done, "person ada"))
    assert (undoing.state, undoing.failure_message) == (JobState.SUCCEEDED, "")
    assert stage.count_rows() == 9
