from __future__ import annotations

from datetime import timedelta

from maintainer.adapters.spark.remote.strays import Strays
from tests.adapters.spark.launcher.yarn.test_launcher import spec_of
from tests.adapters.spark.remote.sites import FakeLauncher


def test_an_unknown_application_ends_when_no_job_of_it_can_work_any_more() -> None:
    launcher, seconds = FakeLauncher(), [0.0]
    for name in ("spark-1", "spark-2"):
        launcher.launch(spec_of(name))
    strays = Strays(launcher, timedelta(seconds=100), lambda: seconds[0])
    for now in (0, 60, 99, 110):
        seconds[0] = now
        strays.sweep(lambda: ["spark-1"])
    assert launcher.ended == []
    seconds[0] = 170
    strays.sweep(lambda: ["spark-1"])
    assert launcher.ended == ["app-spark-2"]


def test_one_that_becomes_known_is_left() -> None:
    launcher, seconds = FakeLauncher(), [0.0]
    launcher.launch(spec_of("spark-1"))
    strays = Strays(launcher, timedelta(seconds=100), lambda: seconds[0])
    for now, known in ((0, []), (60, ["spark-1"]), (130, []), (190, [])):
        seconds[0] = now
        strays.sweep(lambda found=known: found)  # type: ignore[misc]
    assert launcher.ended == []
    seconds[0] = 260
    strays.sweep(list)
    assert launcher.ended == ["app-spark-1"]
