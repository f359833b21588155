"""The alert rules: valid, on metrics that exist, each with a runbook, and each fires."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.adapters.exposition import make_telemetry
from tests.adapters.test_telemetry import fill, tell_everything
from tests.fakes.adapters.store import FakeStore
from tests.helm.charts import CHART, objects, read_values, render
from tests.monitoring.rules import RULES_FILE, read_rules
from tests.project.repository import ROOT

DAY = 24 * 60
GIB = 1024**3
RULE = {"enabled": True}


class Case(NamedTuple):
    """Series by minute that make an alert fire at a minute, and not one minute before."""

    alert: str
    series: dict[str, str]
    minute: int
    labels: tuple[tuple[str, str], ...] = ()


def drivers(state: str) -> str:
    return f'maintainer_drivers{{pool="etl",state="{state}"}}'


CASES = [
    Case(
        "MaintainerTableCritical",
        {
            'maintainer_table_band{table="lake.a",band="critical",instance="x"}': f"1x{2 * DAY}",
            'maintainer_table_band{table="lake.a",band="critical",instance="y"}': f"1x{2 * DAY}",
            'maintainer_table_band{table="lake.b",band="critical"}': f"0x{2 * DAY}",
        },
        DAY,
        (("table", "lake.a"),),
    ),
    Case(
        "MaintainerProofFailed",
        {
            'maintainer_job_failures_total{action="expire_snapshots",reason="unproved"}': "0x9 1x9",
            'maintainer_job_failures_total{action="expire_snapshots",reason="other"}': "0+1x30",
        },
        10,
        (("action", "expire_snapshots"),),
    ),
    Case("MaintainerJobsStuck", {"maintainer_overdue_jobs": "0x9 2x40"}, 25),
    Case(
        "MaintainerJobsStuck",
        {'maintainer_oldest_job_age_seconds{state="unknown"}': "0+60x100"},
        61 + 15,
    ),
    Case(
        "MaintainerStepLate",
        {'maintainer_step_late{step="scan",instance="x"}': "0x9 1x20"},
        15,
        (
            ("step", "scan"),
            ("instance", "x"),
        ),
    ),
    Case(
        "MaintainerNobodyWorks",
        {
            'maintainer_leader{duty="scan",catalog="sea",instance="x"}': "1x9 stale",
            'maintainer_leader{duty="scan",catalog="sea",instance="api"}': "0x60",
            'maintainer_leader{duty="plan",catalog="sea",instance="x"}': "1x60",
            'maintainer_leader{duty="policy_status",catalog="",instance="x"}': "0x60",
        },
        20,
        (("duty", "scan"), ("catalog", "sea")),
    ),
    Case(
        "MaintainerCatalogAway",
        {
            'maintainer_catalog_up{catalog="sea",namespace="one"}': "1x9 0x30",
            'maintainer_catalog_up{catalog="sea",namespace="two"}': "1x40",
        },
        25,
        (("catalog", "sea"), ("namespace", "one")),
    ),
    Case(
        "MaintainerStepFails",
        {'maintainer_step_failures_total{step="plan"}': "0x9 4x20"},
        10,
        (("step", "plan"),),
    ),
    Case(
        "MaintainerCatalogAway",
        {'maintainer_catalog_up{catalog="sea"}': "1x9 0x30"},
        25,
        (("catalog", "sea"),),
    ),
    Case(
        "MaintainerBudgetSpent",
        {
            'maintainer_budget_limit{budget="fleet",resource="jobs"}': "50x60",
            'maintainer_budget_spent{budget="fleet",resource="jobs"}': "0+5x60",
        },
        20,
        (
            ("budget", "fleet"),
            ("resource", "jobs"),
        ),
    ),
    Case(
        "MaintainerFilesSmall",
        {
            "maintainer_fleet_average_file_size_bytes": f"64x9 8x{2 * DAY}",
            "maintainer_fleet_average_file_size_bound_bytes": f"32x{2 * DAY}",
        },
        DAY + 10,
    ),
    Case(
        "MaintainerLinkDown",
        {drivers("silent"): "0x9 2x20", drivers("connected"): "2x9 0x20"},
        15,
        (("pool", "etl"),),
    ),
    Case(
        "MaintainerStoreAway",
        {'maintainer_store_up{instance="x"}': "1x9 0x20"},
        15,
        (("instance", "x"),),
    ),
    Case(
        "MaintainerStoreFull",
        {
            "maintainer_store_free_bytes": f"{9 * GIB}x9 {GIB - 1}x20",
            "maintainer_store_bytes": "1x30",
        },
        20,
    ),
    Case(
        "MaintainerStoreFull",
        {
            "maintainer_store_free_bytes": f"{9 * GIB}x30",
            "maintainer_store_bytes": f"{46 * GIB}x30",
        },
        10,
    ),
    Case(
        "MaintainerFiguresOld",
        {
            "maintainer_last_measured_timestamp_seconds{instance='x'}": "60x400",
            "maintainer_last_measured_timestamp_seconds{instance='y'}": "0x400",
            "maintainer_remeasure_seconds": "3600x400",
        },
        1 + 120 + 1 + 10,
    ),
    Case("MaintainerPolicyRefused", {"maintainer_policy_problems": "0x9 2x20"}, 20),
    Case("MaintainerAway", {"maintainer_store_up": "1x9 stale"}, 20),
    Case(
        "MaintainerAway",
        {
            'maintainer_store_up{namespace="one",instance="x"}': "1x9 stale",
            'maintainer_store_up{namespace="one",instance="y"}': "1x9 stale",
            'maintainer_store_up{namespace="two"}': "1x60",
        },
        20,
        (("namespace", "one"),),
    ),
]


def promtool(*arguments: str, text: str | None = None) -> tuple[int, str]:
    done = subprocess.run(
        ["promtool", *arguments], input=text, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def write_test(case: Case, rule: dict[str, Any]) -> dict[str, Any]:
    """A test for promtool: the alert fires with these labels, and not a minute before."""
    labels = {"alertname": case.alert, **rule["labels"], **dict(case.labels)}
    fires = f'ALERTS{{alertname="{case.alert}",alertstate="firing"}}'
    named = ",".join(f'{name}="{value}"' for name, value in labels.items())
    expected = {"labels": f"{{{named}}}", "value": 1}
    every = f"sum by ({','.join(labels)}) ({fires})"
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": each} for name, each in case.series.items()],
        "promql_expr_test": [
            {"expr": every, "eval_time": f"{case.minute - 1}m", "exp_samples": []},
            {"expr": every, "eval_time": f"{case.minute}m", "exp_samples": [expected]},
        ],
    }


def expose() -> str:
    """Everything that a daemon exposes."""
    store = FakeStore()
    telemetry = make_telemetry(store)
    fill(store)
    tell_everything(telemetry)
    return telemetry.render()[0].decode()


@pytest.mark.prometheus
def test_the_rules_are_valid() -> None:
    status, said = promtool("check", "rules", str(RULES_FILE))
    assert (status, f"SUCCESS: {len(read_rules())} rules found" in said) == (0, True), said


@pytest.mark.prometheus
def test_each_alert_fires_when_its_cause_has_lasted_and_not_before(tmp_path: Path) -> None:
    rules = {rule["alert"]: rule for rule in read_rules()}
    tests = [write_test(case, rules[case.alert]) for case in CASES]
    assert {case.alert for case in CASES} == set(rules)
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES_FILE)], "tests": tests}))
    status, said = promtool("test", "rules", str(file))
    assert status == 0, said


@pytest.mark.prometheus
def test_promtool_finds_nothing_wrong_but_the_unit_of_budgets() -> None:
    _, said = promtool("check", "metrics", text=expose())
    assert {line.partition(" ")[0] for line in said.splitlines()} <= {"maintainer_gb_hours_total"}


def test_each_alert_has_its_runbook_and_each_runbook_its_alert() -> None:
    page = (ROOT / "docs/alerts.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (Maintainer\w+)$", page, re.MULTILINE) == [
        rule["alert"] for rule in read_rules()
    ]


def test_the_rules_use_metrics_that_there_are() -> None:
    known = set(re.findall(r"^# TYPE (\w+)", expose(), re.MULTILINE))
    used = {name for rule in read_rules() for name in re.findall(r"maintainer_\w+", rule["expr"])}
    assert used
    assert used <= known


def test_the_chart_has_the_rules_and_judges_its_own_absence() -> None:
    [rule] = objects("cluster-full", "PrometheusRule")
    found = rule["spec"]["groups"][0]["rules"]
    assert [one["alert"] for one in found] == [one["alert"] for one in read_rules()]
    *others, away = [one["expr"] for one in read_rules()]
    own = 'absent(maintainer_store_up{namespace="maintenance"})'
    expected = away.replace("absent_over_time(maintainer_store_up[1d])", own)
    assert expected.endswith(own)
    assert [one["expr"] for one in found] == [*others, expected]


@pytest.mark.parametrize("page", ["", "https://wiki.example/alerts"])
def test_each_alert_of_the_chart_carries_its_runbook(page: str) -> None:
    """A link leads to a page that exists, or there is none."""
    rules = [
        rule
        for each in render(read_values("simple") | {"prometheusRule": RULE | {"runbooks": page}})
        if each["kind"] == "PrometheusRule"
        for rule in each["spec"]["groups"][0]["rules"]
    ]
    assert len(rules) == len(read_rules())
    for rule in rules:
        annotations = rule["annotations"]
        link = f"{page}#{rule['alert'].lower()}" if page else None
        assert annotations.get("runbook_url") == link
        assert len(annotations["description"]) > len("a sentence"), rule["alert"]
        assert "](" not in annotations["description"], "links are relative to the page"


def test_the_chart_has_the_dashboards_under_the_label_of_the_sidecar() -> None:
    [found] = [
        each
        for each in objects("cluster-full", "ConfigMap")
        if each["metadata"]["labels"].get("grafana_dashboard") == "1"
    ]
    assert found["metadata"]["annotations"]["grafana_folder"] == "data"
    titles = {name: json.loads(text)["title"] for name, text in found["data"].items()}
    assert titles == {
        f"{name}.json": f"Iceberg maintainer: {name}" for name in ("fleet", "jobs", "daemon")
    }


def test_a_dashboard_without_labels_of_installations_shows_series_without_them() -> None:
    """Grafana leaves a variable without values empty, and an empty matcher accepts no label."""
    for file in sorted((CHART / "monitoring/dashboards").glob("*.json")):
        dashboard = json.loads(file.read_text())
        names = [variable["name"] for variable in dashboard["templating"]["list"]]
        assert names == ["datasource", "cluster", "namespace"]
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                metrics = re.findall(r"maintainer_\w+(\{[^}]*\})?", target["expr"])
                assert metrics
                start = '{cluster="$cluster",namespace="$namespace"'
                assert all(each.startswith(start) for each in metrics), target["expr"]


def test_every_metric_is_on_a_dashboard_or_in_a_rule() -> None:
    dashboards = (CHART / "monitoring/dashboards").glob("*.json")
    queries = [rule["expr"] for rule in read_rules()] + [file.read_text() for file in dashboards]
    used = set(re.findall(r"maintainer_\w+", " ".join(queries)))
    known = dict(re.findall(r"^# TYPE (\w+) (\w+)$", expose(), re.MULTILINE))
    series = {f"{name}_bucket" if kind == "histogram" else name for name, kind in known.items()}
    assert series - used == set()


def test_the_chart_gives_prometheus_its_token() -> None:
    [monitor] = objects("cluster-full", "PodMonitor")
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint["authorization"] == {"credentials": {"name": "scrape", "key": "token"}}
