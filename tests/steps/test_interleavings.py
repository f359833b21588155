"""The loop under any interleaving of writers, tags and pins, steps, crashes, lost drivers, stalls
and moved clocks, with two replicas on one store.

INTERLEAVINGS says how many stories are played; `make interleavings EXAMPLES=3000` plays thousands.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from maintainer.domain.action import ExpireSnapshots, RemoveOrphanFiles
from maintainer.domain.errors import MaintainerError, StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.run import request_cancel, request_run
from tests.fakes.adapters.spark import FakeRunner
from tests.steps.holds import Holds
from tests.steps.machines import STEPS, Machine
from tests.steps.strays import Strays
from tests.steps.world import SMALL_FILE, World, layer

EXAMPLES = int(os.environ.get("INTERLEAVINGS", "60"))
IS_SUITE = "INTERLEAVINGS" not in os.environ
SECONDS_PER_EXAMPLE = 2  # at most, on average

NAMES = ("orders", "events", "users")
MOST_CRASHES = 6  # in one story, so that some of its jobs live to their end
TABLES = st.sampled_from(NAMES)
WRITES = (
    "add_job",
    "submit_job",
    "update_job",
    "append_events",
    "record_plan",
    "record_health",
    "renew_lease",
    "take_lease",
)
JOB_WRITES = ("submit_job", "update_job", "renew_lease", "take_lease")
POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {timeout: 30m, when: {average_file_size_below: 32MiB}}
  rewrite_manifests: {when: {manifest_count_above: 100}}
  expire_snapshots: {when: {snapshot_count_above: 2}, max_age: 24h, keep: 2, cooldown: 1h}
  remove_orphan_files: {every: 12h, older_than: 3d, approval: automatic, quarantine: off}
"""
REPLICAS = st.integers(0, 1)
FOUR_DAYS, ROUNDS_PER_DAY = 345_600, 2
MOST_SKEW = 7  # seconds, either way: two clocks differ by less than the margin of the leases


class Interleavings(RuleBasedStateMachine):
    """A model beside the world: the rows that writers know to be committed, the jobs that really
    committed, what is held, what nobody knows.
    """

    happened: ClassVar[Counter[str]] = (
        Counter()
    )  # in all stories: a test in which expiry never ran says nothing of pins

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.policies.layers = (layer(POLICY),)
        self.machines = (Machine(self.world, "a"), Machine(self.world, "b"))
        for one, other in (self.machines, self.machines[::-1]):
            one.other = other
        self.rows: dict[str, int] = {}
        self.committed: set[str] = set()
        self.holds = Holds(self.world)
        self.strays = Strays(self.world)
        self.handed_over: set[str] = set()  # removals whose files have been looked at
        self.crashes = 0

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            table = self.world.put(name, small_files=60, rows=1000)
            self.world.replace(
                replace(self.world.look(table), location=f"file:///warehouse/sales/{name}")
            )
            self.strays.keep(table)
            self.rows[name] = 1000
        self.machines[0].run("scan")
        self.pass_time(FOUR_DAYS)  # of a table that was seen for a shorter time nothing is deleted

    # -- what the world does

    @rule(name=TABLES, files=st.integers(1, 40), day=st.integers(1, 3))
    def write(self, name: str, files: int, day: int = 1) -> None:
        table = _table(name)
        self.rows[name] += files
        self.world.write(table, {day: [SMALL_FILE] * files}, self.rows[name])

    @rule(name=TABLES, data=st.data(), is_pin=st.booleans())
    def tag(self, name: str, data: st.DataObject, is_pin: bool) -> None:
        table = _table(name)
        snapshot = data.draw(st.sampled_from(self.world.look(table).snapshots), "snapshot")
        self.holds.tag(table, snapshot, is_pin=is_pin, is_late=self._is_expiring(table))

    @rule(
        name=TABLES,
        data=st.data(),
        valid_for=st.sampled_from([None, None, timedelta(hours=7), timedelta(hours=30)]),
    )
    def pin(self, name: str, data: st.DataObject, valid_for: timedelta | None) -> None:
        table = _table(name)
        snapshot = data.draw(st.sampled_from(self.world.look(table).snapshots), "snapshot")
        self.holds.pin(table, snapshot, valid_for, is_late=self._is_expiring(table))

    @precondition(lambda self: self.holds.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        self.holds.release(data.draw(st.sampled_from(sorted(self.holds.held)), "hold"))

    @rule(name=TABLES)
    def leave_a_stray(self, name: str) -> None:
        self.strays.leave(_table(name))

    @precondition(lambda self: any(self.strays.left.values()))
    @rule(data=st.data())
    def touch_a_stray(self, data: st.DataObject) -> None:
        strays = [
            (table, path)
            for table, left in sorted(self.strays.left.items())
            for path in sorted(left)
        ]
        self.strays.touch(*data.draw(st.sampled_from(strays), "stray"))

    def _is_expiring(self, table: TableIdentifier) -> bool:
        return any(
            job.table == table and isinstance(job.action, ExpireSnapshots)
            for _, job in self._spark_jobs()
        )

    @rule(seconds=st.sampled_from([1, 31, 100, 140, 600, 3_700, 22_000, 90_000, -120]))
    def pass_time(self, seconds: int) -> None:
        self.world.clock.advance(timedelta(seconds=seconds))
        for machine in self.machines:
            machine.tell_time()

    @precondition(lambda self: self.world.store.leases())
    @rule(data=st.data(), seconds=st.integers(-10, 30), skew=st.sampled_from([0, 4, MOST_SKEW]))
    def come_to_the_end_of_a_lease(self, data: st.DataObject, seconds: int, skew: int) -> None:
        """Its holder hangs, with a clock that is behind, and the other machine, whose clock is
        ahead, looks whether it may take over.
        """
        lease = data.draw(st.sampled_from(list(self.world.store.leases())), "lease")
        for machine in self.machines:
            machine.skew = timedelta(
                seconds=-skew if machine.runner.owner == lease.holder else skew
            )
        left = lease.expires_at + timedelta(seconds=seconds) - self.world.clock.now()
        self.pass_time(max(0, int(left.total_seconds())))
        for machine in self.machines:
            if machine.runner.owner != lease.holder:
                machine.run("watch", "review", "scan", "plan", "submit")

    @rule(on=REPLICAS, seconds=st.sampled_from([-MOST_SKEW, 0, MOST_SKEW]))
    def move_one_clock(self, on: int, seconds: int) -> None:
        self.machines[on].skew = timedelta(seconds=seconds)
        self.machines[on].tell_time()

    # -- what Spark does

    def _spark_jobs(self) -> list[tuple[FakeRunner, Job]]:
        return [(machine.runner, job) for machine in self.machines for job in machine.working()]

    @precondition(lambda self: self._spark_jobs())
    @rule(
        data=st.data(), end=st.sampled_from(["finish", "commit and be lost", "be lost", "conflict"])
    )
    def end_spark_work(self, data: st.DataObject, end: str) -> None:
        runner, job = data.draw(st.sampled_from(self._spark_jobs()), "job")
        match end:
            case "finish":
                runner.finish(job.job_id, self._commit(runner, job))
            case "commit and be lost":
                self._commit(runner, job)
                runner.lose(job.job_id)
            case "conflict":
                runner.fail(
                    job.job_id,
                    FailureReason.CONFLICT,
                    "Cannot commit, found new delete for replaced data file",
                )
            case _:
                runner.lose(job.job_id)

    def _commit(self, runner: FakeRunner, job: Job) -> dict[str, int | str | None]:
        self.committed.add(job.job_id)
        if isinstance(job.action, RemoveOrphanFiles):
            result = self.strays.work(runner, job, job.action)
            self.happened["orphans removed"] += len(self.strays.deleted.get(job.job_id, ()))
            return result
        before = len(self.world.look(job.table).snapshots)
        result = self.world.mend(job)
        if isinstance(job.action, ExpireSnapshots):
            expired = before - len(self.world.look(job.table).snapshots)
            self.happened["snapshots expired"] += expired
            self.happened["snapshots expired beside a hold"] += (
                expired if any(hold.table == job.table for hold in self.holds.held.values()) else 0
            )
        return result

    # -- what the daemons do

    @rule(on=REPLICAS, step=st.sampled_from(sorted(STEPS)))
    def tick(self, on: int, step: str) -> None:
        self.machines[on].run(step)

    @rule(on=REPLICAS)
    def begin_work(self, on: int) -> None:
        """Chance alone would seldom put these in an order in which anything comes of them."""
        self.machines[on].run("scan", "plan", "submit")

    @rule(on=REPLICAS)
    def settle_work(self, on: int) -> None:
        self.machines[on].run("watch", "review")

    @precondition(lambda self: self._spark_jobs())
    @rule()
    def finish_everything(self) -> None:
        for runner, job in self._spark_jobs():
            runner.finish(job.job_id, self._commit(runner, job))

    @rule(on=REPLICAS, days=st.integers(1, 2))
    def live_on(self, on: int, days: int) -> None:
        """Chance alone would seldom let a snapshot or a stray grow old, and bring it to the last of
        the rules.
        """
        for _ in range(days):
            for name in NAMES:
                self.write(name, 1)
            self.pass_time(90_000)
            for _ in range(ROUNDS_PER_DAY):
                self.machines[on].run("watch", "review", "scan", "plan", "submit")
                self.finish_everything()
                self.machines[on].run("watch", "review")

    @rule(on=REPLICAS, name=TABLES)
    def ask_for_a_run(self, on: int, name: str) -> None:
        request_run(self.machines[on].ports, _table(name), (), "ada")

    @precondition(lambda self: self.world.store.unfinished_jobs())
    @rule(on=REPLICAS, data=st.data(), is_late=st.booleans())
    def cancel(self, on: int, data: st.DataObject, is_late: bool) -> None:
        """A person cancels a job; a late cancellation reaches Spark after the job's commit."""
        job = data.draw(st.sampled_from(list(self.world.store.unfinished_jobs())), "job")
        for runner, working in self._spark_jobs() if is_late else ():
            if working.job_id == job.job_id:
                runner.late_effects[job.job_id] = partial(self._commit_late, runner)
        request_cancel(self.machines[on].ports, job, "ada")

    def _commit_late(self, runner: FakeRunner, job: Job) -> None:
        self._commit(runner, job)
        self.happened["commits before a cancellation"] += 1

    @rule(
        on=REPLICAS,
        step=st.sampled_from(["watch", "review", "submit"]),
        write=st.sampled_from(JOB_WRITES),
        seconds=st.sampled_from([30, 140, 600]),
        meanwhile=st.sampled_from([("watch",), ("watch", "review", "scan", "plan", "submit")]),
    )
    def stall_in_a_step(
        self, on: int, step: str, write: str, seconds: int, meanwhile: tuple[str, ...]
    ) -> None:
        """The process hangs right before one of the step's writes; what it has lost to the other
        machine by then, it moves no more.
        """
        real = getattr(self.world.store, write)
        lost: dict[str, JobState] = {}
        has_stalled = False

        def stall(*args: object, **kwargs: object) -> object:
            nonlocal has_stalled
            if not has_stalled:
                has_stalled = True
                self.pass_time(seconds)
                self.machines[1 - on].run(*meanwhile)
                theirs = {
                    lease.job_id
                    for lease in self.world.store.leases()
                    if lease.holder == self.machines[1 - on].runner.owner
                }
                lost.update(
                    (job.job_id, job.state)
                    for job in self.world.store.unfinished_jobs()
                    if job.job_id in theirs
                )
            return real(*args, **kwargs)

        if step == "review":
            self.finish_everything()
            self.machines[on].run("watch")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.world.store, write, stall)
            self.machines[on].run(step)
        now = {job.job_id: job.state for job in self.world.store.unfinished_jobs()}
        assert {job_id: now.get(job_id) for job_id in lost} == lost, (
            "only the holder of the lease moves a job"
        )

    @precondition(lambda self: self.crashes < MOST_CRASHES)
    @rule(
        on=REPLICAS,
        step=st.sampled_from(sorted(STEPS)),
        write=st.sampled_from(WRITES),
        after=st.integers(0, 2),
        is_done=st.booleans(),
    )
    def crash_in_a_step(self, on: int, step: str, write: str, after: int, is_done: bool) -> None:
        """The process ends at one of the step's writes, right before or right after the store has
        it; another process takes over.
        """
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
            self.machines[on].run(step)
        self.restart(on=on, spark="gone")

    @precondition(lambda self: self.crashes < MOST_CRASHES)
    @rule(on=REPLICAS, spark=st.sampled_from(["gone", "gone after its commits", "adopted"]))
    def restart(self, on: int, spark: str) -> None:
        """The process is gone; its Spark is gone with it, and what that had committed by then
        stays, or the next process takes it over.
        """
        self.crashes += 1
        for job in self.machines[on].working() if spark == "gone after its commits" else ():
            self._commit(self.machines[on].runner, job)
        self.machines[on].restart(adopts=spark == "adopted")

    # -- what always holds

    def _jobs(self) -> tuple[Job, ...]:
        return self.world.store.jobs(JobQuery(limit=1000)).items

    def _runners(self) -> list[FakeRunner]:
        return [runner for machine in self.machines for runner in machine.past]

    @invariant()
    def a_table_has_at_most_one_unfinished_job(self) -> None:
        busy = Counter(job.table_uuid for job in self.world.store.unfinished_jobs())
        assert all(count == 1 for count in busy.values()), busy

    @invariant()
    def no_two_sparks_work_on_a_table(self) -> None:
        busy = Counter(job.table_uuid for _, job in self._spark_jobs())
        assert all(count == 1 for count in busy.values()), busy

    @invariant()
    def no_job_is_submitted_twice(self) -> None:
        submitted = Counter(job_id for runner in self._runners() for job_id in runner.submitted)
        assert all(count == 1 for count in submitted.values()), submitted

    @invariant()
    def every_job_that_spark_has_is_stored(self) -> None:
        assert {job_id for runner in self._runners() for job_id in runner.submitted} <= {
            job.job_id for job in self._jobs()
        }

    @invariant()
    def every_lease_is_of_an_unfinished_job(self) -> None:
        assert {lease.job_id for lease in self.world.store.leases()} <= {
            job.job_id for job in self.world.store.unfinished_jobs()
        }

    @invariant()
    def every_row_is_there(self) -> None:
        for name, rows in self.rows.items():
            assert self.world.look(_table(name)).snapshots[-1].summary["total-records"] == str(rows)

    @invariant()
    def what_is_held_is_there(self) -> None:
        self.holds.end_overdue(self.world.clock.now() + timedelta(seconds=MOST_SKEW))
        assert self.holds.find_missing() == {}

    @invariant()
    def nothing_is_handed_over_for_deletion_that_was_written_lately_or_is_none_of_the_strays(
        self,
    ) -> None:
        for runner in self._runners():
            for job_id in set(runner.brought) - self.handed_over:
                self.handed_over.add(job_id)
                job = runner.submitted.get(job_id)
                assert job is None or self.strays.find_wrong(job, runner.brought[job_id]) == []

    @invariant()
    def an_ended_job_tells_the_truth(self) -> None:
        for job in self._jobs():
            if job.state is JobState.SUCCEEDED:
                assert job.job_id in self.committed, job
                removed = job.effect.orphans_removed if job.effect is not None else None
                assert removed == len(self.strays.deleted.get(job.job_id, ())), job
            elif isinstance(job.action, ExpireSnapshots | RemoveOrphanFiles):
                pass  # they leave no snapshot of their own by which a lost one could be recognised
            elif job.state is JobState.CANCELLED and job.job_id in self.committed:
                assert job.effect is not None, job
                assert job.effect.own_commits == 1, job
            elif (
                job.state.is_final
                and job.cancel_requested_by == ""
                and job.job_id in self.committed
            ):
                # Ended over time: what it had committed is counted.
                assert job.failure_reason is FailureReason.TIMEOUT, (
                    job.state,
                    job.failure_reason,
                    job.failure_message,
                )
                assert job.effect is not None
                assert job.effect.own_commits == 1

    def teardown(self) -> None:
        """Left alone, with Spark answering, every job comes to its end."""
        for _ in range(12):
            for runner, job in self._spark_jobs():
                runner.lose(job.job_id)
            self.pass_time(60)
            for machine in self.machines:
                machine.run("watch", "review")
            for job in self.world.store.unfinished_jobs():
                if job.state is JobState.PENDING:
                    request_cancel(self.machines[0].ports, job, "the end")
        left = [(job.job_id, job.state) for job in self.world.store.unfinished_jobs()]
        assert left == []
        self.an_ended_job_tells_the_truth()
        self.every_row_is_there()


def _table(name: str) -> TableIdentifier:
    return TableIdentifier("lake", ("sales",), name)


@pytest.mark.slow
@pytest.mark.timeout(120 + EXAMPLES * SECONDS_PER_EXAMPLE)
def test_no_interleaving_loses_or_repeats_anything() -> None:
    Interleavings.happened.clear()
    sizes = settings(
        max_examples=EXAMPLES,
        derandomize=IS_SUITE,  # few random stories can leave out what must have happened
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Interleavings, settings=sizes)
    assert all(
        Interleavings.happened[what]
        for what in (
            "snapshots expired",
            "snapshots expired beside a hold",
            "orphans removed",
            "commits before a cancellation",
        )
    ), Interleavings.happened
