"""The loop under any interleaving of writers, steps, crashes, lost drivers and moved clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from maintainer.domain.errors import MaintainerError, StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.ports.store import JobQuery
from maintainer.steps.plan import plan
from maintainer.steps.ports import Ports
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import request_cancel, request_run, submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.spark import FakeRunner
from tests.samples import manifest, share
from tests.steps.world import World

NAMES = ("orders", "events", "users")
MOST_CRASHES = 6  # in one story, so that some of its jobs live to their end
STEPS: Mapping[str, Callable[[Ports], object]] = {"scan": scan, "plan": plan, "submit": submit, "watch": watch, "review": review}
TABLES = st.sampled_from(NAMES)
WRITES = ("add_job", "update_job", "append_events", "record_plan", "record_health")


class Interleavings(RuleBasedStateMachine):
    """A model beside the world: the rows that writers were told are committed, and the jobs that really committed."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.runners = [self.world.runner]
        self.rows: dict[str, int] = {}
        self.committed: set[str] = set()
        self.files = 0
        self.crashes = 0

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            self.world.put(name, small_files=60, rows=1000)
            self.rows[name] = 1000

    # -- what the world does

    @rule(name=TABLES, files=st.integers(1, 40))
    def write(self, name: str, files: int) -> None:
        table = _table(name)
        self.rows[name] += files
        self.files += 1
        added = manifest(f"{name}-w{self.files}", [share([1000] * files, "day=1")], sizes=[1000] * files)
        self.world.commit(table, "append", summary={"total-records": str(self.rows[name])}, manifests=(*self.world.look(table).manifests, added))

    @rule(seconds=st.sampled_from([1, 31, 600, 3_700, 22_000, 90_000, -120]))
    def move_clock(self, seconds: int) -> None:
        self.world.clock.advance(timedelta(seconds=seconds))

    # -- what Spark does

    def _spark_jobs(self) -> list[tuple[FakeRunner, Job]]:
        runner = self.world.runner
        return [(runner, job) for job in (runner.submitted | runner.adopted).values() if self._is_open(runner, job)]

    def _is_open(self, runner: FakeRunner, job: Job) -> bool:
        return job.job_id not in runner._outcomes

    @precondition(lambda self: self._spark_jobs())
    @rule(data=st.data(), end=st.sampled_from(["finish", "commit and be lost", "be lost", "conflict"]))
    def end_spark_work(self, data: st.DataObject, end: str) -> None:
        runner, job = data.draw(st.sampled_from(self._spark_jobs()), "job")
        match end:
            case "finish":
                runner.finish(job.job_id, self._commit(job))
            case "commit and be lost":
                self._commit(job)
                runner.lose(job.job_id)
            case "conflict":
                runner.fail(job.job_id, FailureReason.CONFLICT, "Cannot commit, found new delete for replaced data file")
            case _:
                runner.lose(job.job_id)

    def _commit(self, job: Job) -> dict[str, int | str | None]:
        self.committed.add(job.job_id)
        return self.world.mend(job)

    # -- what the daemon does

    @rule(step=st.sampled_from(sorted(STEPS)))
    def tick(self, step: str) -> None:
        STEPS[step](self.world.ports)

    @rule()
    def begin_work(self) -> None:
        """Chance alone would seldom put these in an order in which anything comes of them."""
        for step in ("scan", "plan", "submit"):
            STEPS[step](self.world.ports)

    @rule()
    def settle_work(self) -> None:
        for step in ("watch", "review"):
            STEPS[step](self.world.ports)

    @precondition(lambda self: self._spark_jobs())
    @rule()
    def finish_everything(self) -> None:
        for runner, job in self._spark_jobs():
            runner.finish(job.job_id, self._commit(job))

    @rule(name=TABLES)
    def ask_for_a_run(self, name: str) -> None:
        request_run(self.world.ports, _table(name), (), "ada")

    @precondition(lambda self: self.world.store.unfinished_jobs())
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(list(self.world.store.unfinished_jobs())), "job")
        request_cancel(self.world.ports, job, "ada")

    @precondition(lambda self: self.crashes < MOST_CRASHES)
    @rule(step=st.sampled_from(sorted(STEPS)), write=st.sampled_from(WRITES), after=st.integers(0, 2), is_done=st.booleans())
    def crash_in_a_step(self, step: str, write: str, after: int, is_done: bool) -> None:
        """The process ends at one of the step's writes, right before or right after the store has it; another process takes over."""
        real = getattr(self.world.store, write)
        left = [after]

        def die(*args: object, **kwargs: object) -> object:
            left[0] -= 1
            if left[0] != -1:
                return real(*args, **kwargs)
            if is_done:
                real(*args, **kwargs)
            message = "the process has ended"
            raise StoreUnavailableError(message)

        with pytest.MonkeyPatch.context() as patch, suppress(MaintainerError):
            patch.setattr(self.world.store, write, die)
            STEPS[step](self.world.ports)
        self.restart(has_committed=False)

    @precondition(lambda self: self.crashes < MOST_CRASHES)
    @rule(has_committed=st.booleans(), survives=st.booleans())
    def restart(self, has_committed: bool, survives: bool = False) -> None:
        """The process is gone, and its Spark with it unless that goes on until it is adopted; what Spark had committed by then stays."""
        self.crashes += 1
        gone = self.world.runner
        for _, job in self._spark_jobs() if has_committed and not survives else ():
            self._commit(job)
        self.world.runner = FakeRunner(self.world.clock, capacity=2, owner=f"process-{len(self.runners) + 1}")
        self.world.runner.living_owners = {self.world.runner.owner}
        if survives:
            self.world.runner.adopt(gone)
        self.runners.append(self.world.runner)
        self.world.ports = self.world.restarted()

    # -- what always holds

    def _jobs(self) -> tuple[Job, ...]:
        return self.world.store.jobs(JobQuery(limit=1000)).items

    @invariant()
    def a_table_has_at_most_one_unfinished_job(self) -> None:
        busy = Counter(job.table_uuid for job in self.world.store.unfinished_jobs())
        assert all(count == 1 for count in busy.values()), busy

    @invariant()
    def no_job_is_submitted_twice(self) -> None:
        submitted = Counter(job_id for runner in self.runners for job_id in runner.submitted)
        assert all(count == 1 for count in submitted.values()), submitted

    @invariant()
    def every_job_that_spark_has_is_stored(self) -> None:
        assert {job_id for runner in self.runners for job_id in runner.submitted} <= {job.job_id for job in self._jobs()}

    @invariant()
    def every_row_is_there(self) -> None:
        for name, rows in self.rows.items():
            assert self.world.look(_table(name)).snapshots[-1].summary["total-records"] == str(rows)

    @invariant()
    def an_ended_job_tells_the_truth(self) -> None:
        for job in self._jobs():
            if job.state is JobState.SUCCEEDED:
                assert job.job_id in self.committed, job
            elif job.state.is_final and job.cancel_requested_by == "":
                assert job.job_id not in self.committed, (job.state, job.failure_reason, job.failure_message)

    def teardown(self) -> None:
        """Left alone, with Spark answering, every job comes to its end."""
        ports: Ports = self.world.ports
        for _ in range(12):
            for runner, job in self._spark_jobs():
                runner.lose(job.job_id)
            self.world.clock.advance(timedelta(minutes=1))
            watch(ports)
            review(ports)
            for job in self.world.store.unfinished_jobs():
                if job.state is JobState.PENDING:
                    request_cancel(ports, job, "the end")
        left = [(job.job_id, job.state) for job in self.world.store.unfinished_jobs()]
        assert left == []
        self.an_ended_job_tells_the_truth()
        self.every_row_is_there()


def _table(name: str) -> TableIdentifier:
    return TableIdentifier("lake", ("sales",), name)


@pytest.mark.slow
def test_no_interleaving_loses_or_repeats_anything() -> None:
    sizes = settings(max_examples=100, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Interleavings, settings=sizes)
