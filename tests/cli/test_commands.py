"""The commands in a simulated world: what they do beside a daemon, after a kill, and with which
exit code they end.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from maintainer.cli import commands
from maintainer.cli.jobs import once, pins
from maintainer.cli.jobs.once import follow_job, run_until_rest
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.pin import Pin
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import Pause
from maintainer.requests.run import request_run
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.cli.conftest import open_instead
from tests.fakes.adapters.catalog import FakeCatalog
from tests.fakes.adapters.spark import FakeRunner
from tests.samples import NOW
from tests.steps.world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A world that the commands open; Spark does every job at once."""
    made = World()
    open_instead(monkeypatch, made, pins)
    monkeypatch.setattr(once, "POLL_SECONDS", 0)
    return made


def do_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    accept = world.runner.submit

    def carry_out(job: Job) -> None:
        accept(job)
        world.runner.finish(job.job_id, world.mend(job))

    monkeypatch.setattr(world.runner, "submit", carry_out)


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


def left_by_another_process(world: World, name: str = "orders") -> TableIdentifier:
    """A table with a job that another process runs."""
    table = world.put(name)
    mine, world.runner = world.runner, FakeRunner(world.clock, owner="daemon", tables=world)
    world.ports = replace(world.ports, runner=world.runner)
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    world.runner = mine
    world.runner.living_owners.add("daemon")
    world.ports = replace(world.ports, runner=mine)
    return table


def test_run_beside_a_daemon_that_works_on_the_table_fails_and_says_so(world: World) -> None:
    table = left_by_another_process(world)
    done = call("run", str(table), "--yes")
    assert done.exit_code == 1
    assert "nothing to do" not in done.stderr
    assert "not started: job m-1 is working on lake.sales.orders" in done.stderr


def test_run_after_a_kill_gives_the_lost_job_its_end_and_does_the_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = left_by_another_process(world)
    world.runner.living_owners.discard("daemon")
    do_at_once(world, monkeypatch)
    done = call("run", str(table), "--yes")
    assert done.exit_code == 0, done.stderr
    assert [job.state for job in world.store.jobs(JobQuery()).items] == [
        JobState.SUCCEEDED,
        JobState.FAILED,
    ]


def test_run_on_a_paused_table_fails_and_says_so(world: World) -> None:
    table = world.put("orders")
    scan(world.ports)
    world.store.set_pause(table, Pause("ada", NOW))
    done = call("run", str(table), "--yes")
    assert done.exit_code == 1
    assert "is paused" in done.stderr


def test_following_a_job_leaves_the_jobs_of_others_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_by_another_process(world)
    world.runner.living_owners.discard("daemon")
    (left,) = world.store.unfinished_jobs()
    do_at_once(world, monkeypatch)
    _, job = request_run(world.ports, world.put("returns"), (), "person")
    assert job is not None
    (done,) = follow_job(world.ports, job, lambda _: None)
    assert done.state is JobState.SUCCEEDED
    assert world.store.unfinished_jobs() == (left,)


def test_an_interrupted_run_until_rest_cancels_its_own_jobs_only(world: World) -> None:
    left_by_another_process(world, "theirs")
    (left,) = world.store.unfinished_jobs()
    world.put("ours")

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_until_rest(world.ports, lambda _: None, interrupt)
    assert world.store.unfinished_jobs() == (left,)
    assert world.store.jobs(JobQuery(states=(JobState.CANCELLED,))).items[0].table.name == "ours"
    watch(world.ports)


@pytest.mark.parametrize("command", ["scan", "plan", "check"])
def test_a_catalog_that_cannot_be_listed_fails_the_command_and_the_rest_is_printed(
    world: World, command: str
) -> None:
    world.put("orders", small_files=3)
    assert call(command).exit_code == 0
    gone = FakeCatalog("gone", world.clock)
    gone.fail("connection refused")
    world.ports = replace(world.ports, catalogs={"lake": world.catalog, "gone": gone})
    done = call(command, "--format", "json")
    assert done.exit_code == 1
    assert isinstance(json.loads(done.stdout), list)
    assert "warning: gone could not be listed: connection refused" in done.stderr


def test_a_pin_is_set_listed_and_taken_away(world: World) -> None:
    world.put("orders")
    assert call("pin", "lake.sales.orders").output == "lake.sales.orders has no pins\n"
    assert (
        call("pin", "lake.sales.orders", "--snapshot", "1", "--for", "7d", "--by", "ada").output
        == "cli: snapshot 1, by ada, until 2026-03-11 12:00 UTC\n"
    )
    assert world.store.pins("uuid-orders")[0].snapshot_id == 1
    unknown = call("pin", "lake.sales.orders", "--snapshot", "9")
    assert (unknown.exit_code, "has no snapshot 9" in unknown.output) == (2, True)
    assert (
        call("unpin", "lake.sales.orders", "--by", "bob").output
        == "pin cli of lake.sales.orders is removed\n"
    )
    assert call("unpin", "lake.sales.orders").exit_code == 2
    world.store.set_pin("uuid-orders", Pin("reader", 77, "ada", NOW))
    assert (
        "\npin reader of ada names snapshot 77, which the table does not have: it protects "
        "nothing\n"
    ) in call("pin", "lake.sales.orders").output
    reported = [
        (entry.actor, entry.deed, entry.fields["name"])
        for entry in world.store.audit(AuditQuery()).items
    ]
    assert sorted(reported) == [
        ("person ada", Deed.SNAPSHOT_PINNED, "cli"),
        ("person bob", Deed.SNAPSHOT_UNPINNED, "cli"),
    ]
