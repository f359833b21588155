"""One table under two names, as during every migration by register_table: nothing is done under any
of them until a policy names the owner.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, Snapshot, TableFault, TableInventory
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.run import request_run
from maintainer.steps.kinds.registration_check import MAX_MEASURED
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending, submit
from tests.fakes.adapters.catalog import FakeCatalog
from tests.fakes.adapters.policies import FakePolicies
from tests.samples import NOW
from tests.steps.world import ENFORCE, World, layer

OLD, LAKE = (
    TableIdentifier("old", ("sales",), "orders"),
    TableIdentifier("lake", ("sales",), "orders"),
)
RULES = (RuleName.REWRITE_DATA_FILES, RuleName.REWRITE_MANIFESTS, RuleName.EXPIRE_SNAPSHOTS)


class Migration(World):
    """A table that was registered in the catalog lake, too, and has got a commit there since."""

    def __post_init__(self) -> None:
        self.old = FakeCatalog("old", self.clock)
        super().__post_init__()
        self.ports = replace(self.ports, catalogs={"lake": self.catalog, "old": self.old})
        self.put("orders", manifests=200, small_files=400)
        made = self.look(LAKE)
        times = range(150, 0, -1)
        line = tuple(
            Snapshot(
                age,
                age + 1 if age < 150 else None,
                151 - age,
                NOW - timedelta(days=age),
                "append",
                made.snapshots[0].summary,
            )
            for age in times
        )
        self.before = replace(
            made,
            snapshots=line[:-1],
            current_snapshot_id=2,
            metadata_location=f"{made.location}/metadata/00149-a.metadata.json",
        )
        self.replace(
            replace(
                made,
                snapshots=line,
                current_snapshot_id=1,
                metadata_location=f"{made.location}/metadata/00150-a.metadata.json",
            )
        )

    def register(self, name: TableIdentifier = OLD, entry: TableInventory | None = None) -> None:
        """The older state under another name."""
        {"lake": self.catalog, "old": self.old}[name.catalog].put(
            replace(entry or self.before, table=name)
        )

    def govern(self, *owners: str) -> None:
        """The usual policy, and owners by pattern."""
        own = [
            layer(f"tables: '{pattern}'\nowner: true", f"{number}.yaml")
            for number, pattern in enumerate(owners)
        ]
        self.policies = FakePolicies(layer(ENFORCE), *own)
        self.ports = replace(self.ports, policies=self.policies)

    def look_around(self) -> None:
        scan(self.ports)
        scan(self.ports)
        plan(self.ports)

    def verdicts(self, name: TableIdentifier) -> dict[RuleName, SkipCode | None]:
        record = self.store.table(name)
        assert record is not None
        assert record.plan is not None
        found = {one.rule: None for one in record.plan.planned} | {
            one.rule: one.code for one in record.plan.skipped
        }
        return {rule: found[rule] for rule in RULES}

    def finding(self, name: TableIdentifier) -> str:
        record = self.store.table(name)
        assert record is not None
        assert record.grade is not None
        return next(
            (finding.sentence for finding in record.grade.findings if finding.metric == "names"), ""
        )


REFUSED = dict.fromkeys(RULES, SkipCode.UNSAFE)
PLANNED = dict.fromkeys(RULES, None)


@pytest.fixture
def world() -> Migration:
    return Migration()


def last_job(world: World) -> Job:
    return world.store.jobs(JobQuery()).items[0]


def test_guard_33_nothing_is_done_to_a_table_under_any_of_its_names(world: Migration) -> None:
    world.look_around()
    assert world.verdicts(LAKE) == PLANNED
    world.register()
    world.look_around()
    assert world.verdicts(LAKE) == world.verdicts(OLD) == REFUSED
    assert submit(world.ports) == 0
    for name in (LAKE, OLD):
        for rule in RULES:
            made, job = request_run(world.ports, name, (rule,), "person ann")
            assert (job, made.skipped[0].code) == (None, SkipCode.UNSAFE), "nor when a person asks"


def test_guard_33_each_name_has_a_finding_that_names_the_other_and_says_what_to_do(
    world: Migration,
) -> None:
    world.look_around()
    assert world.finding(LAKE) == ""
    world.register()
    world.look_around()
    advice = (
        "work under one name may destroy what the other needs; write `owner: true` in a policy "
        "for the name that is to be maintained"
    )
    assert world.finding(LAKE) == f"the table is registered as {OLD} too: {advice}"
    assert world.finding(OLD) == f"the table is registered as {LAKE} too: {advice}"
    world.old.drop(OLD)
    world.look_around()
    assert world.finding(LAKE) == ""
    assert world.verdicts(LAKE) == PLANNED


def test_guard_33_the_owner_that_a_policy_names_is_maintained_and_the_others_are_not(
    world: Migration,
) -> None:
    world.register()
    world.look_around()
    world.govern("lake.*")
    world.look_around()
    assert (world.verdicts(LAKE), world.verdicts(OLD)) == (PLANNED, REFUSED)
    assert (
        world.finding(LAKE)
        == f"the table is registered as {OLD} too; a policy names this name as the owner"
    )
    assert world.finding(OLD) == (
        f"the table is registered as {LAKE} too: it is maintained as {LAKE}, which a policy "
        f"names as the owner"
    )
    assert submit(world.ports) == 1
    assert last_job(world).table == LAKE


def test_guard_33_two_owners_are_none(world: Migration) -> None:
    world.register()
    world.govern("*")
    world.look_around()
    assert world.verdicts(LAKE) == world.verdicts(OLD) == REFUSED
    assert f"policies name several owners, {LAKE} and {OLD}" in world.finding(LAKE)


def test_guard_33_an_owner_that_is_behind_is_left_alone(world: Migration) -> None:
    world.register()
    world.govern("old.*")
    world.look_around()
    assert world.verdicts(LAKE) == world.verdicts(OLD) == REFUSED
    assert f"{LAKE} has newer commits" in world.finding(OLD)


def test_guard_33_a_commit_under_the_other_name_is_seen_right_before_the_owner_is_worked_on(
    world: Migration,
) -> None:
    world.register()
    world.govern("lake.*")
    world.look_around()
    latest = replace(
        world.look(LAKE).snapshots[-1], snapshot_id=999, committed_at=world.clock.now(), parent_id=2
    )
    world.register(
        entry=replace(
            world.before,
            snapshots=(*world.before.snapshots, latest),
            current_snapshot_id=999,
            metadata_location="elsewhere/1.json",
        )
    )
    assert submit(world.ports) == 0
    assert last_job(world).state is JobState.CANCELLED
    assert f"{OLD} has newer commits" in last_job(world).failure_message


@pytest.mark.parametrize("rule", RULES)
def test_guard_33_a_name_that_came_since_the_last_scan_is_seen_right_before(
    world: Migration, rule: RuleName
) -> None:
    world.look_around()
    _, job = request_run(world.ports, LAKE, (rule,), "person ann")
    assert job is not None
    world.register()
    assert start_pending(world.ports) == 0
    assert (world.stored(job).state, world.runner.submitted) == (JobState.CANCELLED, {})
    assert f"the table is registered as {OLD} too" in world.stored(job).failure_message


@pytest.mark.parametrize("name", ["old.archive.orders_2024", "lake.archive.orders_2024"])
def test_guard_33_before_an_expiry_any_other_new_name_is_seen(world: Migration, name: str) -> None:
    world.look_around()
    _, job = request_run(world.ports, LAKE, (RuleName.EXPIRE_SNAPSHOTS,), "person ann")
    assert job is not None
    world.register(TableIdentifier.parse(name))
    assert start_pending(world.ports) == 0
    assert f"the table is registered as {name} too" in world.stored(job).failure_message


def test_guard_33_a_new_name_is_seen_right_after_the_check_of_another_table(
    world: Migration,
) -> None:
    returns = world.put("returns", manifests=200, small_files=400)
    world.replace(replace(world.look(returns), snapshots=world.look(LAKE).snapshots))
    world.look_around()
    _, first = request_run(world.ports, returns, (RuleName.EXPIRE_SNAPSHOTS,), "person ann")
    assert first is not None
    assert start_pending(world.ports) == 1
    _, second = request_run(world.ports, LAKE, (RuleName.EXPIRE_SNAPSHOTS,), "person ann")
    assert second is not None
    name = TableIdentifier.parse("lake.archive.orders_2024")
    world.register(name)
    start_pending(world.ports)
    assert f"the table is registered as {name} too" in world.stored(second).failure_message


def put_others(world: Migration, number: int) -> list[TableInventory]:
    """So many other tables in the catalog old."""
    made = [
        replace(
            world.look(LAKE),
            table=TableIdentifier("old", ("archive",), f"t{position}"),
            table_uuid=f"other-{position}",
            location=f"s3://lake/t{position}",
            metadata_location=f"s3://lake/t{position}/metadata/1.json",
        )
        for position in range(number)
    ]
    for entry in made:
        world.old.put(entry)
    return made


def expire(world: Migration) -> Job:
    """A person asks for an expiry; its job, after the attempt to start it."""
    _, job = request_run(world.ports, LAKE, (RuleName.EXPIRE_SNAPSHOTS,), "person ann")
    assert job is not None
    start_pending(world.ports)
    return world.stored(job)


def test_guard_33_a_known_name_is_asked_again_ten_minutes_after_its_last_answer(
    world: Migration,
) -> None:
    (other,) = put_others(world, 1)
    world.look_around()
    world.clock.advance(timedelta(minutes=11))
    world.register(other.table)
    job = expire(world)
    assert job.state is JobState.CANCELLED
    assert f"the table is registered as {other.table} too" in job.failure_message


def test_guard_33_a_new_name_is_measured_where_a_listing_tells_no_location(
    world: Migration,
) -> None:
    world.old.tells_locations = False
    world.look_around()
    name = TableIdentifier.parse("old.archive.orders_2024")
    world.register(name)
    assert f"the table is registered as {name} too" in expire(world).failure_message


def test_tables_that_were_measured_are_not_measured_again_before_an_expiry(
    world: Migration,
) -> None:
    world.old.tells_locations = False
    others = put_others(world, MAX_MEASURED + 1)
    world.look_around()
    world.clock.advance(timedelta(minutes=11))
    for entry in others:
        world.old.put(replace(entry, metadata_location=f"{entry.location}/metadata/2.json"))
    assert expire(world).state is JobState.SUBMITTED


def test_guard_33_an_expiry_waits_where_too_many_tables_may_be_other_names(
    world: Migration,
) -> None:
    world.look_around()
    own = world.look(LAKE).location
    for position, entry in enumerate(put_others(world, MAX_MEASURED + 1)):
        world.old.put(replace(entry, metadata_location=f"{own}/metadata/t{position}.json"))
    job = expire(world)
    assert job.state is not JobState.SUBMITTED
    assert "more than 20 tables may be other names of this one" in job.failure_message


def test_a_name_that_was_dropped_or_is_another_table_by_now_holds_nothing_back(
    world: Migration,
) -> None:
    world.register()
    world.look_around()
    world.old.drop(OLD)
    world.look_around()
    assert expire(world).state is JobState.SUBMITTED


def test_guard_33_a_name_that_another_table_had_before_is_not_asked_for(world: Migration) -> None:
    (other,) = put_others(world, 1)
    world.old.put(replace(other, location=f"{world.look(LAKE).location}/archive"))
    world.look_around()
    world.old.drop(other.table)
    world.look_around()
    world.old.put(TableFault(other.table, FaultKind.METADATA_CORRUPT, "it is broken", NOW))
    _, job = request_run(world.ports, LAKE, (RuleName.REWRITE_DATA_FILES,), "person ann")
    assert job is not None
    assert start_pending(world.ports) == 1, "its trouble is no trouble of this table"


def test_guard_33_a_name_counts_while_its_catalog_is_away(world: Migration) -> None:
    world.register()
    world.look_around()
    world.old.fail("no answer")
    world.look_around()
    assert world.verdicts(LAKE) == REFUSED
    world.govern("lake.*")
    world.look_around()
    assert world.verdicts(LAKE) == PLANNED
    assert submit(world.ports) == 0
    ended = last_job(world)
    assert (ended.state, ended.failure_reason) == (
        JobState.FAILED,
        FailureReason.CATALOG_UNREACHABLE,
    )
    assert ended.failure_message.startswith(
        f"it is not known whether {OLD}, another name of the table, has newer commits: "
    )


def test_guard_33_a_name_that_one_listing_lacked_is_asked_for_right_before(
    world: Migration,
) -> None:
    world.register()
    world.look_around()
    world.old.drop(OLD)
    world.look_around()
    assert world.verdicts(LAKE) == PLANNED, "it may have been dropped on purpose"
    world.register()
    assert submit(world.ports) == 0
    assert f"the table is registered as {OLD} too" in last_job(world).failure_message

    world.old.drop(OLD)
    world.look_around()
    world.old.fail("no answer")
    world.clock.advance(timedelta(days=1))
    plan(world.ports)
    assert submit(world.ports) == 0
    assert last_job(world).failure_message.startswith(
        f"it is not known whether the table is registered as {OLD} too: "
    )


@pytest.mark.parametrize(
    ("rule", "starts"), [(RuleName.EXPIRE_SNAPSHOTS, 0), (RuleName.REWRITE_DATA_FILES, 1)]
)
def test_guard_33_nothing_is_expired_while_a_catalog_could_never_be_listed(
    world: Migration, rule: RuleName, starts: int
) -> None:
    world.old.fail("no answer")
    world.look_around()
    _, job = request_run(world.ports, LAKE, (rule,), "person ann")
    assert job is not None
    assert start_pending(world.ports) == starts
    assert ("catalog old could never be listed" in world.stored(job).failure_message) is (
        starts == 0
    )


def test_a_catalog_that_is_away_does_not_stop_tables_that_were_never_in_it(
    world: Migration,
) -> None:
    world.old.put(
        replace(
            world.look(LAKE),
            table=replace(OLD, name="returns"),
            table_uuid="another",
            location="s3://lake/returns",
        )
    )
    world.look_around()
    world.old.fail("no answer")
    world.look_around()
    world.old.asked.clear()
    for rule in RULES:
        _, job = request_run(world.ports, LAKE, (rule,), "person ann")
        assert job is not None
        assert start_pending(world.ports) == 1
        world.runner.start(job.job_id)
        world.store.update_job(
            replace(world.stored(job), state=JobState.CANCELLED, finished_at=NOW),
            world.stored(job),
            world.store.leases()[0].token,
        )
    assert world.old.asked == [], "each job would wait for a catalog that does not answer"
