"""Jobs of several sizes on one machine: a driver for each size, as far as the memory goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.adapters.spark.options import DriverSize, LocalSparkOptions, megabytes
from maintainer.domain.pool import JobSize
from tests.adapters.spark.lakes import QUICK_OPTIONS, Lake, job_on, outcome_of, runner_on


def test_sizes_without_a_driver_of_their_own_share_that_of_the_small_ones() -> None:
    options = LocalSparkOptions(
        driver_memory="2g", max_jobs=4, drivers={JobSize.LARGE: DriverSize("8192m", 1)}
    )
    assert [options.driver_of(size) for size in JobSize] == [
        DriverSize("2g", 4),
        DriverSize("2g", 4),
        DriverSize("8192m", 1),
    ]
    assert (megabytes("2g"), options.max_megabytes) == (2048, 8192)
    assert replace(options, max_memory="12g").max_megabytes == 12 * 1024


@pytest.mark.spark
@pytest.mark.slow
def test_a_larger_job_waits_for_memory_gets_a_driver_of_its_own_and_later_ones_wait_behind_it(
    lake: Lake, tmp_path: Path
) -> None:
    """There is room for one driver at a time: the small one is ended for the large one as soon as
    it has no job, and started again after it.
    """
    options = replace(QUICK_OPTIONS, drivers={JobSize.LARGE: DriverSize("1000m", 1)})
    runner = runner_on([lake], tmp_path, "sizes-1", options)
    small = replace(job_on(lake.create("size_small", files=6), "size-small"), size=JobSize.SMALL)
    large = replace(job_on(lake.create("size_large", files=6), "size-large"), size=JobSize.LARGE)
    behind = job_on(lake.create("size_behind", files=6), "size-behind")
    unwanted = replace(
        job_on(lake.create("size_unwanted", files=6), "size-unwanted"), size=JobSize.LARGE
    )
    try:
        for job in (small, large, behind, unwanted):
            runner.submit(job)
        first = runner.driver_pid
        assert first is not None
        for job in (large, behind):
            report = runner.report(job)
            assert report is not None
            assert (report.progress.phase, report.is_started) == ("waiting for memory", False)
        runner.cancel(unwanted.job_id)
        assert outcome_of(runner, unwanted).kind == "cancelled"
        assert outcome_of(runner, small).kind == "finished"
        assert outcome_of(runner, large).kind == "finished"
        assert read_start_time(first) is None, "there was room for one"
        ended = outcome_of(runner, behind)
        assert ended.kind == "finished"
        assert ended.ended_at > outcome_of(runner, large).ended_at
        assert runner.driver_pid is not None
    finally:
        runner.close()
