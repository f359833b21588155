"""The stages of a job on a real Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.action import Canary, Checksum, Safeguards
from maintainer.domain.driver import Progress, Stage
from maintainer.domain.job import JobEvent
from tests.adapters.spark.lakes import Lake, job_on, one_by_one, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_rewrite_with_checks_goes_through_its_stages_in_order_and_its_bar_never_goes_back(
    warm: LocalRunner, lake: Lake
) -> None:
    job = replace(
        job_on(lake.create("stages"), "stages", one_by_one()),
        safeguards=Safeguards(canary=Canary.SAMPLE, checksum=Checksum.FULL),
    )
    seen, events = [Progress()], list[JobEvent]()
    warm.submit(job)

    def is_over() -> bool:
        report = warm.report(job)
        assert report is not None
        seen.append(report.progress.after(seen[-1]))
        events.extend(report.events)
        return report.outcome is not None

    wait_until(is_over)
    parts = [str(event.fields["part"]) for event in events if event.name == "statement.started"]
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    shares = [progress.share for progress in seen]
    assert parts == sorted(parts, key=["before", "main", "after"].index)
    assert {"main", "after"} <= set(parts)
    assert stages == [stage for stage in Stage if stage in stages]
    assert {Stage.WORKING, Stage.CHECKING} <= set(stages)
    assert shares == sorted(shares)
    assert seen[-1].file_groups_total
