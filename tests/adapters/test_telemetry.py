from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry
from maintainer.domain.cost import Cost
from maintainer.domain.health import Band, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.plan import RuleVerdict
from maintainer.domain.policy import PolicyProblem, PolicySet, RuleName
from maintainer.domain.replica import list_duties
from maintainer.domain.scan_cost import ReaderFault, SlowRead
from maintainer.domain.status import TableState
from maintainer.ports.telemetry import Telemetry
from tests.adapters.exposition import make_telemetry, named, read
from tests.api.nouns import (
    EFFECT,
    GRADE,
    HEALTH,
    NOW,
    PLAN,
    finish_job,
    make_job,
    measure,
    run_job,
)
from tests.fakes.adapters.store import FakeStore
from tests.fakes.adapters.telemetry import FakeTelemetry

GOLDEN = Path(__file__).parent / "telemetry.golden.txt"
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "metrics.md"
PROMISED = {
    "maintainer_table_average_file_size_bytes", "maintainer_table_data_files",
    "maintainer_table_manifests", "maintainer_table_snapshots",
    "maintainer_table_band", "maintainer_fleet_average_file_size_bytes",
    "maintainer_scan_duration_seconds_sum", "maintainer_scan_entries_total",
    "maintainer_jobs", "maintainer_job_duration_seconds_sum", "maintainer_files_removed_total",
    "maintainer_bytes_rewritten_total",
    "maintainer_job_failures_total", "maintainer_decisions_total", "maintainer_leader",
}  # fmt: skip


def fill(store: FakeStore) -> None:
    """What the gauges are made from."""
    store.record_health(HEALTH, GRADE)
    store.record_health(
        measure(
            named("broken"),
            average_file_size_bytes=None,
            data_files=None,
            data_bytes=None,
            manifests=None,
        ),
        Grade(Band.CRITICAL),
    )
    store.record_fault(TableFault(named("gone"), FaultKind.METADATA_MISSING, "no such file", NOW))
    for number in range(2):
        store.add_job(replace(run_job(make_job(f"job-{number}")), table_uuid=f"uuid-{number}"))
    store.add_job(replace(finish_job(run_job(make_job("job-9"))), table_uuid="uuid-9"))


def tell_everything(telemetry: Telemetry) -> None:
    telemetry.table_measured(HEALTH, GRADE)
    telemetry.table_gone(named("gone"))
    telemetry.scan_finished(1.5, 230, 2, 1)
    telemetry.catalog_polled("lake", 0.4, 2)
    telemetry.queue_counted({"planned": 3, "over_budget": 4})
    telemetry.states_counted({TableState.DUE: 5, TableState.HEALTHY: 6})
    telemetry.reader_checked(ReaderFault.DECODER_WRONG)
    telemetry.manifests_read_slowly(SlowRead.SCHEMA, 3)
    telemetry.plan_made(PLAN)
    telemetry.job_finished(finish_job(run_job(make_job())), EFFECT)
    telemetry.job_finished(
        finish_job(
            run_job(make_job("job-2")), JobState.FAILED, failure_reason=FailureReason.CONFLICT
        ),
        None,
    )
    telemetry.step_finished("scan", 1.6, is_ok=True)
    telemetry.step_finished("plan", 0.2, is_ok=False)


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def telemetry(store: FakeStore) -> PrometheusTelemetry:
    made = make_telemetry(store)
    duties = list_duties(frozenset({"lake"}), "host-a-1")
    made.show_duties(duties, lambda duty: duty.scope == "lake")
    return made


def test_the_exposition_is_the_golden_one(telemetry: PrometheusTelemetry, store: FakeStore) -> None:
    fill(store)
    tell_everything(telemetry)
    text, content_type = telemetry.render()
    assert b"_created" not in text
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert text.decode() == GOLDEN.read_text(encoding="utf-8")


def test_refused_policies_are_counted_and_notes_are_not(telemetry: PrometheusTelemetry) -> None:
    problems = [
        PolicyProblem("a.yaml:1", "no number"),
        PolicyProblem("b.yaml", "left out", is_note=True),
    ]
    assert read(telemetry)["maintainer_policy_problems"] == 0
    telemetry.watch_policies(lambda: PolicySet((), tuple(problems)))
    assert read(telemetry)["maintainer_policy_problems"] == 1
    problems.clear()
    assert read(telemetry)["maintainer_policy_problems"] == 0


def test_the_fake_records_the_same_things() -> None:
    fake = FakeTelemetry()
    tell_everything(fake)
    lists = (
        fake.measured,
        fake.gone,
        fake.plans,
        fake.jobs,
        fake.steps,
        fake.scans,
        fake.readers,
        fake.slow,
        fake.polls,
        fake.queues,
    )
    assert [len(reported) for reported in lists] == [
        1,
        1,
        1,
        2,
        2,
        1,
        1,
        1,
        1,
        1,
    ]


def test_the_exposition_can_be_parsed(telemetry: PrometheusTelemetry, store: FakeStore) -> None:
    fill(store)
    tell_everything(telemetry)
    names = {
        sample.name
        for family in text_string_to_metric_families(telemetry.render()[0].decode())
        for sample in family.samples
    }
    assert names >= PROMISED


def test_a_reader_that_is_whole_again_takes_its_reason_back(telemetry: PrometheusTelemetry) -> None:
    telemetry.reader_checked(ReaderFault.NO_DECODER)
    assert read(telemetry)['maintainer_slow_reader{reason="no_decoder"}'] == 1
    telemetry.reader_checked(None)
    assert [
        read(telemetry)[f'maintainer_slow_reader{{reason="{reason}"}}'] for reason in ReaderFault
    ] == [0, 0, 0]


def test_what_was_read_slowly_adds_up_by_its_reason(telemetry: PrometheusTelemetry) -> None:
    for reason, manifests in ((SlowRead.SCHEMA, 3), (SlowRead.CONTENTS, 1), (SlowRead.SCHEMA, 2)):
        telemetry.manifests_read_slowly(reason, manifests)
    series = read(telemetry)
    assert [series[f'maintainer_slow_reads_total{{reason="{reason}"}}'] for reason in SlowRead] == [
        0,
        5,
        1,
    ]


def test_only_gauges_carry_a_table_label(telemetry: PrometheusTelemetry, store: FakeStore) -> None:
    fill(store)
    tell_everything(telemetry)
    assert {
        family.type
        for family in telemetry.registry.collect()
        for sample in family.samples
        if "table" in sample.labels
    } == {"gauge"}


def test_an_effect_that_others_outweighed_does_not_lower_a_counter(
    telemetry: PrometheusTelemetry,
) -> None:
    telemetry.job_finished(
        finish_job(run_job(make_job())),
        replace(EFFECT, files_removed=-5, delete_files_removed=2, manifests_removed=-1),
    )
    assert read(telemetry)['maintainer_files_removed_total{action="rewrite_data_files"}'] == 2
    assert read(telemetry)["maintainer_manifests_removed_total"] == 0


def test_a_failure_without_a_reason_is_counted_as_other(telemetry: PrometheusTelemetry) -> None:
    telemetry.job_finished(make_job().advance(JobState.FAILED, finished_at=NOW), None)
    assert (
        read(telemetry)['maintainer_job_failures_total{action="rewrite_data_files",reason="other"}']
        == 1
    )


def test_what_admission_holds_back_and_lets_go_is_counted(telemetry: PrometheusTelemetry) -> None:
    telemetry.verdicts_changed(
        [
            RuleVerdict(RuleName.EXPIRE_SNAPSHOTS, code, "", "", NOW)
            for code in ("over_budget", "over_budget", "planned")
        ]
    )
    series = read(telemetry)
    assert series['maintainer_decisions_total{verdict="over_budget"}'] == 2
    assert series['maintainer_decisions_total{verdict="planned"}'] == 1


def test_every_closed_label_is_there_from_the_start(telemetry: PrometheusTelemetry) -> None:
    series = read(telemetry)
    assert series['maintainer_job_failures_total{action="expire_snapshots",reason="conflict"}'] == 0
    assert series['maintainer_decisions_total{verdict="nothing_to_gain"}'] == 0
    assert series['maintainer_jobs{state="unknown"}'] == 0


def test_a_nasty_table_name_is_escaped(telemetry: PrometheusTelemetry, store: FakeStore) -> None:
    table = TableIdentifier("lake", ('a"b', "c\\d\n"), "größe 🧊")
    store.record_health(replace(HEALTH, table=table), GRADE)
    families = text_string_to_metric_families(telemetry.render()[0].decode())
    assert str(table) in {
        sample.labels.get("table") for family in families for sample in family.samples
    }


def test_threads_lose_no_count(telemetry: PrometheusTelemetry, store: FakeStore) -> None:
    def tell(number: int) -> None:
        table = named(f"t{number % 7}")
        store.record_health(replace(HEALTH, table=table), GRADE)
        telemetry.plan_made(PLAN)
        telemetry.render()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(tell, range(80)))
    assert read(telemetry)['maintainer_decisions_total{verdict="planned"}'] == 80


def test_the_documentation_lists_every_metric_and_no_other(
    telemetry: PrometheusTelemetry, store: FakeStore
) -> None:
    fill(store)
    tell_everything(telemetry)
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*?) \|$",
        DOCUMENTATION.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    documented = {name: (kind, labels, meaning) for name, kind, labels, meaning in rows}
    declared = {}
    for family in telemetry.registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = sorted({label for sample in family.samples for label in sample.labels} - {"le"})
        declared[name] = (
            family.type,
            ", ".join(f"`{label}`" for label in labels),
            family.documentation,
        )
    assert documented == declared


def test_a_finished_job_is_counted_with_what_it_took_and_how_far_the_predictions_were_off(
    telemetry: PrometheusTelemetry,
) -> None:
    job = replace(
        finish_job(run_job(make_job())), effect=EFFECT, cost=Cost(1.0, 2.0, 60.0), memory_gb=2.0
    )
    assert job.duration is not None
    gb_hours = 2.0 * job.duration.total_seconds() / 3600
    telemetry.job_finished(job, EFFECT)
    series = read(telemetry)
    assert series['maintainer_gb_hours_total{action="rewrite_data_files"}'] == pytest.approx(
        gb_hours
    )
    over = 'action="rewrite_data_files",direction="over",quantity="gb_hours"'
    assert series[f"maintainer_estimate_error_ratio_count{{{over}}}"] == 1
    assert series[f"maintainer_estimate_error_ratio_sum{{{over}}}"] == pytest.approx(
        (1.0 - gb_hours) / gb_hours
    )
    assert job.estimate.items_removed == EFFECT.files_removed
    exact = 'action="rewrite_data_files",direction="exact",quantity="files_removed"'
    assert series[f"maintainer_estimate_error_ratio_count{{{exact}}}"] == 1

    telemetry.job_finished(
        replace(job, estimate=replace(job.estimate, items_removed=EFFECT.files_removed // 2)),
        EFFECT,
    )
    under = 'action="rewrite_data_files",direction="under",quantity="files_removed"'
    assert read(telemetry)[f"maintainer_estimate_error_ratio_sum{{{under}}}"] == pytest.approx(
        0.5, abs=0.1
    )


def test_an_error_without_anything_to_compare_with_is_left_out(
    telemetry: PrometheusTelemetry,
) -> None:
    nothing = replace(EFFECT, files_removed=0, bytes_rewritten=0)
    telemetry.job_finished(replace(finish_job(run_job(make_job())), effect=nothing), nothing)
    assert not [
        series for series in read(telemetry) if series.startswith("maintainer_estimate_error_ratio")
    ]
