"""A simulated daemon is held by what would hold the real one: its policies' targets, budgets and
windows, the fleet's shares and blackouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from maintainer.adapters.policies.reading import parse_policy, read_table_properties
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.policy import Budget, Charge, PolicyLayer, PolicySet, Window
from maintainer.domain.pool import Pool
from maintainer.domain.units import KIB, MIB
from tests.labs.simulation.daemon import Daemon
from tests.labs.simulation.fleet import Layout, Traits, Writer
from tests.labs.simulation.table import SimulatedTable
from tests.labs.simulation.trial import STARTS_AT, Conditions, Outcome, Work, run_trial
from tests.samples import TABLE

TRAITS = Traits(
    TABLE,
    Layout.BY_BUCKET,
    Writer.APPEND,
    commits_per_hour=2,
    files_per_commit=16,
    file_bytes=MIB,
    files_at_start=320,
)
CYCLE, MINUTE = Conditions().cycle, timedelta(minutes=1)
UNHELD = Conditions()


def fleet(number: int, traits: Traits = TRAITS) -> list[Traits]:
    return [replace(traits, table=replace(TABLE, name=f"t{one}")) for one in range(number)]


def begin(traits: Sequence[Traits]) -> list[SimulatedTable]:
    tables = [SimulatedTable(one, STARTS_AT) for one in traits]
    for table in tables:
        table.fill(Random(1))
    return tables


def layer(text: str) -> PolicyLayer:
    parsed = parse_policy(f'tables: "*"\n{text}\n', "all.yaml")
    assert isinstance(parsed, PolicyLayer)
    return parsed


def carry_out(
    daemon: Daemon, tables: Sequence[SimulatedTable], *minutes: float
) -> list[tuple[int, timedelta]]:
    """One cycle in which jobs take so long, by turns: which tables were served, and when after the
    cycle's begin.
    """
    served: list[tuple[int, timedelta]] = []
    for work in daemon.choose(STARTS_AT, tables, None):
        done, seconds = tables[work.table].rewrite(), 60 * minutes[len(served) % len(minutes)]
        started_at = STARTS_AT + work.starts_after
        daemon.learn(
            work,
            tables[work.table],
            Outcome(started_at, seconds, 0.1, done.files_removed, done.bytes, is_conflict=False),
        )
        served.append((work.table, work.starts_after))
    return served


def test_a_target_file_size_that_is_tried_is_what_the_table_is_measured_and_rewritten_by() -> None:
    tried = Daemon((layer("target_file_size: 64MiB"),), UNHELD)
    result = run_trial(
        [replace(TRAITS, files_at_start=32_000, commits_per_hour=0.1)],
        tried,
        replace(UNHELD, length=timedelta(days=2)),
    )
    assert result.jobs > 0
    assert 32 * MIB < result.average_file_size_bytes < 70 * MIB
    assert (tried.target_of(TRAITS), Daemon((), UNHELD).target_of(TRAITS)) == (64 * MIB, 512 * MIB)


def test_a_policys_daily_budget_lasts_for_a_day_and_not_for_a_cycle() -> None:
    conditions = replace(UNHELD, length=timedelta(days=2))
    tables = fleet(24, replace(TRAITS, files_at_start=64))
    often = "rules: {rewrite_data_files: {when: {average_file_size_below: 1GiB}}}"
    free = run_trial(tables, Daemon((layer(often),), conditions), conditions)
    held = run_trial(
        tables,
        Daemon((layer(f"{often}\nbudget: {{gb_hours_per_day: 0.5}}"),), conditions),
        conditions,
    )
    assert free.gb_hours > 4 * 0.5, "otherwise this would show nothing"
    assert 0.5 < held.gb_hours <= 3 * 0.5 * 1.1, (
        "the trial touches three days; jobs may take a little more than the 90th percentile"
    )


def test_what_is_charged_is_what_was_predicted_until_the_job_is_over_and_then_what_it_took() -> (
    None
):
    daemon, tables = (
        Daemon((), replace(UNHELD, gb_hours_per_day=1000.0, max_jobs=1)),
        begin(fleet(1)),
    )
    [work] = daemon.choose(STARTS_AT, tables, None)
    outcome = Outcome(STARTS_AT, 600.0, 0.25, 304, 320 * MIB, is_conflict=False)
    daemon.learn(work, tables[0], outcome)
    load = daemon._workload
    during, after, tomorrow = (
        load.look_around(STARTS_AT + passed).spending.total
        for passed in (MINUTE, 11 * MINUTE, timedelta(days=1))
    )
    assert during.gb_hours > (work.expected_gb_hours or 0) > 0
    assert (after, tomorrow) == (Charge(float(320 * MIB), 0.25), Charge())


def test_max_jobs_of_a_policy_limits_what_runs_side_by_side_and_not_what_a_cycle_does() -> None:
    one_by_one = carry_out(Daemon((layer("budget: {max_jobs: 1}"),), UNHELD), begin(fleet(6)), 10)
    assert sorted(table for table, _ in one_by_one) == list(range(6))
    assert [after for _, after in one_by_one] == [10 * MINUTE * number for number in range(6)]


def test_of_two_jobs_of_one_policy_the_longer_goes_on_when_the_shorter_ends() -> None:
    served = carry_out(Daemon((layer("budget: {max_jobs: 2}"),), UNHELD), begin(fleet(5)), 10, 100)
    assert [after for _, after in served] == [number * MINUTE for number in (0, 0, 10, 20, 100)], (
        "jobs of 10, 100, 10, 100 and 10 minutes"
    )


def test_what_does_not_fit_into_a_cycle_goes_on_in_the_next() -> None:
    served = carry_out(Daemon((layer("budget: {max_jobs: 1}"),), UNHELD), begin(fleet(6)), 150)
    assert [after for _, after in served] == [timedelta(0), 150 * MINUTE, 300 * MINUTE]


def test_the_runners_places_are_what_runs_side_by_side() -> None:
    served = carry_out(Daemon((), replace(UNHELD, max_jobs=4)), begin(fleet(8)), 30)
    assert [after for _, after in served] == [timedelta(0)] * 4 + [30 * MINUTE] * 4


def test_a_share_of_the_fleets_budget_is_kept_for_tables_in_the_critical_band() -> None:
    tables = [
        replace(one, file_bytes=size)
        for one, size in zip(fleet(2), (12 * MIB, 64 * KIB), strict=True)
    ]
    rules = AdmissionRules(urgent_share=0.9995, explore_share=0.0)
    daemon = Daemon((), replace(UNHELD, gb_hours_per_day=20.0), rules=rules)
    assert [table for table, _ in carry_out(daemon, begin(tables), 1)] == [1]
    unkept = Daemon(
        (), replace(UNHELD, gb_hours_per_day=20.0), rules=replace(rules, urgent_share=0.0)
    )
    assert sorted(table for table, _ in carry_out(unkept, begin(tables), 1)) == [0, 1]


def test_a_catalogs_budget_limits_its_tables_alone() -> None:
    here = fleet(2)
    elsewhere = [replace(one, table=replace(one.table, catalog="other")) for one in fleet(2)]
    rules = AdmissionRules(per_catalog={"lake": Budget(gb_hours_per_day=1e-6, name="catalog lake")})
    assert sorted(
        table
        for table, _ in carry_out(Daemon((), UNHELD, rules=rules), begin([*here, *elsewhere]), 1)
    ) == [2, 3]


def test_nothing_starts_in_a_blackout_of_the_fleet() -> None:
    rules = AdmissionRules(blackouts=(Window("0 0 * * *", timedelta(hours=5)),))
    assert [
        after for _, after in carry_out(Daemon((), UNHELD, rules=rules), begin(fleet(2)), 1)
    ] == [timedelta(hours=5)] * 2


@pytest.mark.parametrize(
    ("policy", "starts"),
    [
        ('window: {cron: "0 2 * * *", duration: 30m, timezone: UTC}', [120, 120, 145, 145]),
        (
            'blackouts: [{cron: "0 0 * * *", duration: 3h, timezone: UTC}]',
            [180, 180, 205, 205, 230, 230],
        ),
    ],
)
def test_windows_of_a_policy_open_and_close_within_a_cycle(policy: str, starts: list[int]) -> None:
    daemon = Daemon((layer(policy),), replace(UNHELD, max_jobs=2))
    assert [after for _, after in carry_out(daemon, begin(fleet(6)), 25)] == [
        number * MINUTE for number in starts
    ]


def test_the_properties_of_a_table_are_the_narrowest_layer() -> None:
    policies = PolicySet(
        (layer("rules: {rewrite_data_files: {when: {small_file_count_above: 10}}}"),),
        read_properties=read_table_properties,
    )
    said: list[dict[str, str]] = [
        {},
        {"maintainer.enabled": "false"},
        {"maintainer.rewrite_data_files.when.small_file_count_above": "1000"},
    ]
    traits = [
        replace(one, properties=properties) for one, properties in zip(fleet(3), said, strict=True)
    ]
    assert [table for table, _ in carry_out(Daemon(policies, UNHELD), begin(traits), 1)] == [0]


def test_a_job_occupies_the_memory_of_its_size() -> None:
    assert Work(0).memory_gb is None
    daemon, tables = (
        Daemon((), UNHELD, rules=AdmissionRules(pools={"default": Pool(2.5)})),
        begin(fleet(1)),
    )
    assert [work.memory_gb for work in daemon.choose(STARTS_AT, tables, None)] == [2.5]
