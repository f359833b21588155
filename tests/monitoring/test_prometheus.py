"""A real Prometheus beside a real daemon, and beside two with every trouble that alerts name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import yaml

from maintainer.adapters.telemetry.gauges import GaugeOptions
from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry
from maintainer.api.application import build_probes
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.health import Band, Grade
from maintainer.domain.inventory import CatalogFault
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.policy import Budget, PolicyProblem, PolicySet
from maintainer.domain.pool import Pool
from maintainer.domain.replica import Duty, DutyKind
from maintainer.ports.store.drivers import DriverPoll, DriverRecord, DriverTokens
from tests.adapters.catalog.lake import Lake, rows
from tests.api.listening import listening
from tests.api.nouns import HEALTH, NOW, finish_job, make_job, run_job
from tests.api.serving import Daemon as FakeDaemon
from tests.end_to_end.programs import Daemon, serving, wait_for
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.store import FakeStore
from tests.helm.charts import CHART
from tests.monitoring.prometheus_server import Prometheus, prometheus
from tests.monitoring.rules import RULES_FILE, read_rules
from tests.monitoring.test_rules import promtool

pytestmark = [pytest.mark.prometheus, pytest.mark.slow, pytest.mark.timeout(180)]

# No daemon can be scraped: only promtool shows it, because here one always is.
NOT_MADE_HERE = {"MaintainerAway"}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
CONFIGURATION = """
catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}}
scan: {interval: 2s}
admission: {gb_hours_per_day: 100}
metrics: {average_file_size_bound: 1B}
"""


@dataclass(frozen=True)
class Site:
    daemon: Daemon
    troubled: PrometheusTelemetry
    prometheus: Prometheus


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    lake = Lake(directory)
    lake.make_table("sales", "orders").append(rows(1))
    lake.close()
    (directory / "policies").mkdir()
    (directory / "maintainer.yaml").write_text(CONFIGURATION)
    troubled, broken = (
        make_troubled(),
        PrometheusTelemetry(FakeStore(broken="the disk is gone"), FakeClock(NOW)),
    )
    with ExitStack() as stack:
        daemon = stack.enter_context(serving(directory))
        targets = {"daemon": urlsplit(daemon.url).netloc}
        for name, telemetry in (("troubled", troubled), ("broken", broken)):
            context = replace(FakeDaemon().context(), metrics=telemetry.render)
            server = stack.enter_context(listening(build_probes(context)))
            targets[name] = f"127.0.0.1:{server.port}"
        watcher = stack.enter_context(prometheus(directory, targets, shorten_rules()))
        yield Site(daemon, troubled, watcher)


def make_troubled() -> PrometheusTelemetry:
    """A daemon whose store has the cause of each alert that rests on gauges."""
    store, clock = FakeStore(free_bytes=1), FakeClock(NOW)
    store.record_health(replace(HEALTH, measured_at=LONG_AGO), Grade(Band.CRITICAL))
    store.record_catalog_faults("sea", [CatalogFault("sea", (), "connection refused", NOW)])
    store.add_job(replace(run_job(make_job()), deadline=NOW - timedelta(seconds=1)))
    tokens = DriverTokens("digest", NOW + timedelta(hours=1))
    store.add_driver(DriverRecord("driver", "me", tokens, NOW, pool="etl"), {"kind": "start"})
    store.order("driver", "me", 2, {"kind": "run"}, ("job-1", NOW + timedelta(seconds=30)))
    store.take_poll("driver", DriverPoll("p", 1, 2, {}, []))
    clock.advance(timedelta(minutes=1))
    rules = AdmissionRules(fleet=Budget(bytes_per_day=1), pools={"etl": Pool()})
    telemetry = PrometheusTelemetry(store, clock, GaugeOptions(("sea",), admission=rules))
    telemetry.watch_steps(lambda: [("scan", 7200.0, True)])
    telemetry.show_duties([Duty(DutyKind.SCAN, "sea")], lambda _: False)
    telemetry.step_finished("plan", 0.1, is_ok=True)
    telemetry.watch_policies(lambda: PolicySet((), (PolicyProblem("a.yaml:1", "no number"),)))
    return telemetry


def shorten_rules() -> object:
    """The chart's rules, with a second for each time that an alert waits, and short windows."""
    text = re.sub(r"\[\d+\w\]", "[10s]", RULES_FILE.read_text())
    rules = yaml.safe_load(re.sub(r"for: \w+", "for: 1s", text))
    assert len(rules["groups"][0]["rules"]) == len(read_rules())
    return rules


def test_prometheus_reads_the_daemon_and_promtool_its_metrics(site: Site) -> None:
    def is_read() -> bool:
        return bool(site.prometheus.query('sum_over_time(up{job="daemon"}[1m]) >= 10'))

    wait_for(is_read, 60, "ten scrapes")
    wait_for(
        lambda: site.prometheus.query('maintainer_table_data_files{job="daemon"} == 1'),
        60,
        "the daemon's table",
    )
    _, said = promtool("check", "metrics", text=site.daemon.get("/metrics"))
    assert {line.partition(" ")[0] for line in said.splitlines()} <= {"maintainer_gb_hours_total"}


def test_each_alert_fires_by_its_cause_and_none_for_the_sound_daemon(site: Site) -> None:
    wait_for(
        lambda: site.prometheus.query('maintainer_step_failures_total{job="troubled"}'),
        60,
        "the first scrape, before the counters rise",
    )
    unproved = finish_job(
        run_job(make_job()), JobState.FAILED, failure_reason=FailureReason.UNPROVED
    )
    wanted = {rule["alert"] for rule in read_rules()} - NOT_MADE_HERE
    fired: set[str] = set()

    def have_all_fired() -> bool:
        site.troubled.job_finished(unproved, None)
        site.troubled.step_finished("plan", 0.1, is_ok=False)
        fired.update(site.prometheus.firing())
        return fired >= wanted

    try:
        wait_for(have_all_fired, 60, "the alerts")
    except AssertionError:
        assert fired == wanted
    sound = site.prometheus.query('ALERTS{alertstate="firing",namespace="daemon"}')
    assert sound == []


def list_queries() -> list[tuple[str, str, str]]:
    """Each query of each dashboard, with the dashboard and the panel."""
    return [
        (file.stem, panel["title"], target["expr"])
        for file in sorted((CHART / "monitoring/dashboards").glob("*.json"))
        for panel in json.loads(file.read_text())["panels"]
        for target in panel["targets"]
    ]


def fill_in(query: str, *namespaces: str) -> Iterator[str]:
    """The query as Grafana sends it for an installation in each namespace, without clusters."""
    for namespace in namespaces:
        yield (
            query.replace("$__rate_interval", "10s")
            .replace("$cluster", "")
            .replace("$namespace", namespace)
        )


def test_a_dashboard_shows_one_of_two_installations(site: Site) -> None:
    [query] = [query for _, title, query in list_queries() if title == "Daemons that are scraped"]
    wait_for(lambda: len(site.prometheus.query("maintainer_store_up")) == 3, 60, "three daemons")
    found = [site.prometheus.query(each) for each in fill_in(query, "daemon", "troubled")]
    assert [float(one["value"][1]) for each in found for one in each] == [1, 1]
    assert [site.prometheus.query(each) for each in fill_in(query, "")] == [[]]


def test_each_query_of_each_dashboard_has_data(site: Site) -> None:
    queries = list_queries()
    assert {dashboard for dashboard, _, _ in queries} == {"fleet", "jobs", "daemon"}
    missing = set(queries)

    def has_data(query: str) -> bool:
        return any(site.prometheus.query(each) for each in fill_in(query, "daemon", "troubled"))

    def have_all_data() -> bool:
        missing.difference_update([one for one in missing if has_data(one[2])])
        return not missing

    try:
        wait_for(have_all_data, 90, "data")
    except AssertionError:
        assert missing == set()
