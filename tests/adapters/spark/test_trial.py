"""A trial of Spark on a driver of the tests' own, and on a real one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from maintainer.adapters.spark.link import DriverSource, Listener
from maintainer.adapters.spark.trial import Trial
from maintainer.cli.setup.try_spark import Scratch, try_pool
from maintainer.domain.errors import RunnerUnavailableError
from tests.adapters.spark.lakes import QUICK_OPTIONS, Lake, runner_on

SOON, AT_ONCE = timedelta(seconds=30), timedelta(0)
FACTS = {"at": 1.5, "spark": "4.1.4", "catalogs": {"lake": ""}}
STARTED = {"event": "application.started"}
REPORTED = {"event": "application.facts", "facts": FACTS, "number": 7}


@dataclass
class ScriptedSpark:
    """Is the source and its one driver: says this when it starts, and this for a job."""

    start_words: Sequence[Mapping[str, object]] = (STARTED, REPORTED)
    answer: Callable[[str], Mapping[str, object] | None] = lambda job: {
        "event": "job.finished",
        "job": job,
        "result": {"rewritten_data_files_count": 2},
    }
    last_words: Mapping[str, object] = field(default_factory=dict)
    does_end: bool = False
    name: str = "driver-1"
    log: str = "driver.log"
    hindrance: str = ""
    is_started: bool = False
    is_ended: Event = field(default_factory=Event)
    orders: list[str] = field(default_factory=list)
    listener: Listener | None = None

    def start(self, _size: object, listener: Listener) -> ScriptedSpark:
        self.listener = listener
        for message in self.start_words:
            self.is_started |= message is STARTED
            listener.heard(cast("Any", self), message)
        if self.does_end:
            listener.ended(cast("Any", self))
        return self

    def run(self, order: Mapping[str, object], _valid_for: timedelta) -> None:
        self.orders.append("run")
        answer = self.answer(str(order["id"]))
        if answer is not None and self.listener is not None:
            self.listener.heard(cast("Any", self), answer)

    def cancel(self, job_id: str) -> None:
        self.orders.append("cancel")
        if self.listener is not None:
            self.listener.heard(cast("Any", self), {"event": "job.cancelled", "job": job_id})

    def acknowledge(self, numbers: Sequence[int]) -> None:
        self.orders.append(f"acknowledge {numbers}")

    def find_complaint(self) -> str:
        return "Error: no space left"

    def stop(self) -> None:
        self.orders.append("stop")

    def give_up(self, _reason: str) -> None:
        self.orders.append("give up")
        self.is_ended.set()

    def release(self) -> None:
        self.orders.append("release")


def trial_of(spark: ScriptedSpark, start_timeout: timedelta = SOON) -> Trial:
    options = replace(QUICK_OPTIONS, start_timeout=start_timeout)
    return Trial(cast("DriverSource", spark), options)


def test_a_driver_that_calls_is_asked_and_then_ended() -> None:
    spark = ScriptedSpark()
    with closing(trial_of(spark)) as trial:
        facts = trial.start()
        assert (facts.spark, facts.catalogs) == ("4.1.4", {"lake": ""})
        assert trial.run(["CALL x"], SOON) == {"rewritten_data_files_count": 2}
    assert spark.orders == ["acknowledge [7]", "run", "stop", "release"]


def test_a_driver_that_does_not_call_in_time_is_ended_and_its_log_is_asked() -> None:
    spark = ScriptedSpark(start_words=())
    with (
        closing(trial_of(spark, AT_ONCE)) as trial,
        pytest.raises(
            RunnerUnavailableError, match="did not start within 0 s; Error: no space left"
        ),
    ):
        trial.start()
    assert spark.orders == ["give up", "release"]


def test_what_its_place_says_of_a_driver_that_does_not_start_comes_first() -> None:
    spark = ScriptedSpark(start_words=(), hindrance="the image x cannot be pulled: not found")
    with pytest.raises(RunnerUnavailableError, match="within 0 s; the image x cannot be pulled"):
        trial_of(spark, AT_ONCE).start()


def test_a_driver_that_ends_at_once_says_why() -> None:
    causes = [{"class": "RunnerUnavailableError", "message": "the image x cannot be pulled"}]
    spark = ScriptedSpark(start_words=(), does_end=True, last_words={"causes": causes})
    with pytest.raises(RunnerUnavailableError, match="the image x cannot be pulled"):
        trial_of(spark).start()


def test_a_job_that_fails_says_why() -> None:
    causes = [{"class": "a.ForbiddenException", "message": "may not create tables"}]
    spark = ScriptedSpark(answer=lambda job: {"event": "job.failed", "job": job, "causes": causes})
    trial = trial_of(spark)
    trial.start()
    with pytest.raises(RunnerUnavailableError, match="ForbiddenException: may not create tables"):
        trial.run(["CREATE TABLE x"], SOON)


def test_a_job_that_takes_too_long_is_cancelled_before_anything_else_runs() -> None:
    spark = ScriptedSpark(answer=lambda _: None)
    trial = trial_of(spark)
    trial.start()
    with pytest.raises(RunnerUnavailableError, match="no result within 0 s"):
        trial.run(["CALL x"], AT_ONCE)
    assert spark.orders[-2:] == ["run", "cancel"]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    lake.catalog.create_namespace_if_not_exists(("scratch",))
    return lake


@pytest.mark.spark
@pytest.mark.slow
def test_a_real_spark_rewrites_a_scratch_table_and_nothing_of_it_remains(
    lake: Lake, tmp_path: Path
) -> None:
    conf = {**QUICK_OPTIONS.conf, "spark.log.level": "INFO"}
    runner = runner_on([lake], tmp_path / "run", "doctor-1", replace(QUICK_OPTIONS, conf=conf))
    with closing(runner.trial()) as trial:
        found = {
            what: (is_fine, sentence)
            for what, is_fine, sentence in try_pool(trial, [Scratch("lake", ("scratch",))])
        }
    assert [what for what, (is_fine, _) in found.items() if not is_fine] == [], found
    assert found["CALL in lake.scratch"][1].startswith("rewrote 2 of 2 files")
    assert lake.catalog.list_tables(("scratch",)) == []
    assert [path for path in (tmp_path / "warehouse").rglob("*") if path.is_file()] == []
    (log,) = (tmp_path / "run").glob("*.log")
    assert " INFO SparkContext: Running Spark version" in log.read_text(), "as its level says"
