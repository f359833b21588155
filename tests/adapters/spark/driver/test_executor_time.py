"""Executor-seconds: each moment's executors belong to the jobs at work, and to nobody twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from maintainer.adapters.spark.driver.progress import ExecutorTime


@dataclass
class Scene:
    """A clock and a number of executors that a test sets."""

    now: float = 0.0
    executors: int = 0
    is_ending: bool = False
    time: ExecutorTime = field(init=False)

    def __post_init__(self) -> None:
        self.time = ExecutorTime(2048, self._count, lambda: self.now)

    def _count(self) -> int:
        if self.is_ending:
            raise ConnectionError
        return self.executors

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.time.tick()

    def end(self, job_id: str) -> Any:
        return self.time.end(job_id)


def test_a_job_alone_has_all_executors_for_as_long_as_they_are_there() -> None:
    scene = Scene(executors=2)
    scene.wait(100)
    scene.time.begin("a")
    scene.wait(10)
    scene.executors = 5
    scene.wait(1)  # the change is seen now: it counts from here
    scene.wait(4)
    scene.now += 0.5
    assert scene.end("a") == {"executors": {"seconds": 22 + 20 + 2.5, "megabytes": 2048}}


def test_jobs_side_by_side_share_them() -> None:
    scene = Scene(executors=4)
    scene.time.begin("a")
    scene.wait(1)
    scene.time.begin("b")
    scene.wait(1)
    assert scene.end("a")["executors"]["seconds"] == 4 + 2
    scene.wait(1)
    assert scene.end("b")["executors"]["seconds"] == 2 + 4


def test_a_spark_that_does_not_answer_counts_on_with_its_last_number() -> None:
    scene = Scene(executors=3)
    scene.time.begin("a")
    scene.is_ending = True
    scene.wait(2)
    assert scene.end("a")["executors"]["seconds"] == 6


def test_a_fixed_number_of_executors_is_neither_counted_nor_reported() -> None:
    time = ExecutorTime(0, lambda: 1 // 0)
    time.begin("a")
    time.tick()
    assert time.end("a") == {}
    assert ExecutorTime(2048, lambda: 1).end("never begun") == {}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["begin", "end", "wait"]),
            st.sampled_from("abc"),
            st.integers(0, 20),
            st.integers(0, 9),
        ),
        max_size=40,
    )
)
def test_all_jobs_together_have_what_there_was_while_any_was_at_work(
    steps: list[tuple[str, str, int, int]],
) -> None:
    scene, at_work, total, found = Scene(), set[str](), 0.0, 0.0
    for what, job_id, seconds, executors in steps:
        if what == "begin" and job_id not in at_work:
            scene.time.begin(job_id)
            at_work.add(job_id)
        elif what == "end" and job_id in at_work:
            found += scene.end(job_id)["executors"]["seconds"]
            at_work.remove(job_id)
        else:
            counted = scene.executors
            total += counted * seconds if at_work else 0
            scene.executors = executors
            scene.wait(seconds)
    found += sum(scene.end(job_id)["executors"]["seconds"] for job_id in at_work)
    assert abs(found - total) < 0.01 * (len(steps) + 1)
