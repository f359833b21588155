"""Three dashboards for Grafana. Gauges of the store are equal on every replica, hence max.

A dashboard shows one installation, which has a cluster and a namespace of its own. Where Prometheus
has no such labels, the variables are empty, and an empty matcher accepts series without the label.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

WIDTH: Final = 24  # columns of Grafana's grid
HEIGHT: Final = 8
INSTALLATION: Final = 'cluster="$cluster",namespace="$namespace"'
_METRIC: Final = re.compile(r"(maintainer_\w+)(?:\{([^}]*)\})?")


class Panel(NamedTuple):
    """One panel: its queries by legend. A legend of labels is a template of Grafana."""

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    kind: str = "timeseries"  # or stat
    width: int = 12


def _stat(title: str, query: str, unit: str = "short") -> Panel:
    return Panel(title, {"": query}, unit, "stat", 6)


def _quantile(metric: str, by: str) -> str:
    labels = ", ".join(filter(None, ("le", by)))
    return f"histogram_quantile(0.95, sum by ({labels}) (rate({metric}_bucket[$__rate_interval])))"


def _rate(metric: str, by: str) -> str:
    return f"sum by ({by}) (rate({metric}[$__rate_interval]))"


_FLEET = (
    _stat("Average file size", "max(maintainer_fleet_average_file_size_bytes)", "bytes"),
    _stat("Data files", "max(maintainer_fleet_data_files)"),
    _stat("Data", "max(maintainer_fleet_data_bytes)", "bytes"),
    _stat("Critical tables", 'max(maintainer_tables{band="critical"})'),
    Panel("Tables by band", {"{{band}}": "max by (band) (maintainer_tables)"}),
    Panel(
        "Average file size and its bound",
        {
            "average": "max(maintainer_fleet_average_file_size_bytes)",
            "bound": "max(maintainer_fleet_average_file_size_bound_bytes)",
        },
        "bytes",
    ),
    Panel(
        "Average file size by catalog",
        {
            "{{catalog}}": "max by (catalog) (maintainer_catalog_data_bytes) "
            "/ max by (catalog) (maintainer_catalog_data_files)"
        },
        "bytes",
    ),
    Panel(
        "Namespaces with most files",
        {
            "{{catalog}}.{{table_namespace}}": "topk(10, max by (catalog, table_namespace) "
            "(maintainer_namespace_data_files))"
        },
    ),
    Panel(
        "Tables with most files",
        {"{{table}}": "topk(10, max by (table) (maintainer_table_data_files))"},
    ),
    Panel(
        "Critical tables by namespace",
        {
            "{{catalog}}.{{table_namespace}}": "topk(10, max by (catalog, table_namespace) "
            '(maintainer_namespace_tables{band="critical"}))'
        },
    ),
    Panel(
        "Namespaces with most data",
        {
            "{{catalog}}.{{table_namespace}}": "topk(10, max by (catalog, table_namespace) "
            "(maintainer_namespace_data_bytes))"
        },
        "bytes",
    ),
    Panel(
        "Critical tables by catalog",
        {"{{catalog}}": 'max by (catalog) (maintainer_catalog_tables{band="critical"})'},
    ),
    Panel("Tables by state", {"{{state}}": "max by (state) (maintainer_tables_by_state)"}),
    Panel(
        "Tables with smallest files",
        {"{{table}}": "bottomk(10, max by (table) (maintainer_table_average_file_size_bytes))"},
        "bytes",
    ),
    Panel(
        "Tables with most manifests",
        {"{{table}}": "topk(10, max by (table) (maintainer_table_manifests))"},
    ),
    Panel(
        "Tables with most snapshots",
        {"{{table}}": "topk(10, max by (table) (maintainer_table_snapshots))"},
    ),
    Panel(
        "Faults",
        {
            "names that could not be read": "max(maintainer_scan_faults)",
            "{{catalog}}": "max by (catalog) (maintainer_catalog_faults)",
        },
    ),
)
_JOBS = (
    _stat("Running", 'max(maintainer_jobs{state="running"})'),
    _stat("Overdue", "max(maintainer_overdue_jobs)"),
    _stat("Waiting actions", "sum(max by (verdict) (maintainer_queue_actions))"),
    _stat("Files removed in a day", "sum(increase(maintainer_files_removed_total[1d]))"),
    Panel("Jobs by state", {"{{state}}": "max by (state) (maintainer_jobs)"}),
    Panel(
        "Oldest job by state",
        {"{{state}}": "max by (state) (maintainer_oldest_job_age_seconds)"},
        "s",
    ),
    Panel(
        "Failures by reason",
        {
            "{{action}} {{reason}}": "sum by (action, reason) "
            "(increase(maintainer_job_failures_total[1h])) > 0 or vector(0)"
        },
    ),
    Panel(
        "Duration, 95th percentile",
        {"{{action}}": _quantile("maintainer_job_duration_seconds", "action")},
        "s",
    ),
    Panel("Queue by verdict", {"{{verdict}}": "max by (verdict) (maintainer_queue_actions)"}),
    Panel(
        "Budgets: share spent",
        {
            "{{budget}} {{resource}}": "max by (budget, resource) (maintainer_budget_spent) "
            "/ max by (budget, resource) (maintainer_budget_limit)"
        },
        "percentunit",
    ),
    Panel(
        "GB-hours in an hour",
        {"{{action}}": "sum by (action) (increase(maintainer_gb_hours_total[1h]))"},
    ),
    Panel(
        "Jobs finished in an hour",
        {
            "{{action}} {{state}}": "sum by (action, state) "
            "(increase(maintainer_jobs_finished_total[1h])) > 0 or vector(0)"
        },
    ),
    Panel(
        "Data rewritten in an hour",
        {"data": "sum(increase(maintainer_bytes_rewritten_total[1h]))"},
        "bytes",
    ),
    Panel(
        "Metadata removed in an hour",
        {
            "manifests": "sum(increase(maintainer_manifests_removed_total[1h]))",
            "snapshots": "sum(increase(maintainer_snapshots_removed_total[1h]))",
        },
    ),
    Panel(
        "Error of estimates, 95th percentile",
        {
            "{{quantity}} {{direction}}": "histogram_quantile(0.95, "
            "sum by (le, quantity, direction) "
            "(increase(maintainer_estimate_error_ratio_bucket[1d]))) or vector(0)"
        },
        "percentunit",
    ),
    Panel(
        "Drivers of the link",
        {"{{pool}} {{state}}": "max by (pool, state) (maintainer_drivers)"},
    ),
)
_DAEMON = (
    _stat("Daemons that are scraped", "count(maintainer_store_up)"),
    _stat("Late steps", "sum(maintainer_step_late)"),
    _stat(
        "Catalogs that are away",
        "count(max by (catalog) (maintainer_catalog_up) == 0) or vector(0)",
    ),
    _stat("Store", "max(maintainer_store_bytes)", "bytes"),
    Panel(
        "Steps: 95th percentile of their time",
        {"{{step}}": _quantile("maintainer_step_duration_seconds", "step")},
        "s",
    ),
    Panel("Steps: age", {"{{step}}": "max by (step) (maintainer_step_age_seconds)"}, "s"),
    Panel("Steps: failures", {"{{step}}": _rate("maintainer_step_failures_total", "step")}),
    Panel(
        "Catalogs: 95th percentile of a poll",
        {"{{catalog}}": _quantile("maintainer_catalog_poll_duration_seconds", "catalog")},
        "s",
    ),
    Panel("Catalogs: errors", {"{{catalog}}": _rate("maintainer_catalog_errors_total", "catalog")}),
    Panel(
        "Manifest entries read in a second",
        {"{{instance}}": _rate("maintainer_scan_entries_total", "instance")},
    ),
    Panel(
        "Scans of catalogs, 95th percentile",
        {"all": _quantile("maintainer_scan_duration_seconds", "")},
        "s",
    ),
    Panel(
        "Tables measured by the last scan",
        {"{{instance}}": "max by (instance) (maintainer_scan_tables)"},
    ),
    Panel(
        "Manifests read slowly",
        {
            "{{reason}}": _rate("maintainer_slow_reads_total", "reason"),
            "all: {{reason}}": "max by (reason) (maintainer_slow_reader)",
        },
    ),
    Panel(
        "Age of the newest measurement, and its limit",
        {
            "age": "time() - max(maintainer_last_measured_timestamp_seconds)",
            "limit": "2 * max(maintainer_remeasure_seconds)",
        },
        "s",
    ),
    Panel("Refused policies", {"{{instance}}": "max by (instance) (maintainer_policy_problems)"}),
    Panel("Verdicts", {"{{verdict}}": _rate("maintainer_decisions_total", "verdict")}),
    Panel(
        "Series left out",
        {
            "tables": "max(maintainer_tables_left_out)",
            "namespaces": "max(maintainer_namespaces_left_out)",
        },
    ),
)


def _of_installation(query: str) -> str:
    """Return the query with each metric of the chosen installation alone."""

    def choose(metric: re.Match[str]) -> str:
        name, matchers = metric.groups()
        return f"{name}{{{','.join(filter(None, (INSTALLATION, matchers)))}}}"

    return _METRIC.sub(choose, query)


def _variable(name: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "query": {"query": f"label_values({query}, {name})", "refId": name},
        "refresh": 2,  # with each change of the time range
        "sort": 1,
    }


def _write(name: str, panels: tuple[Panel, ...]) -> str:
    document: dict[str, Any] = {
        "title": f"Iceberg maintainer: {name}",
        "uid": f"iceberg-maintainer-{name}",
        "tags": ["iceberg-maintainer"],
        "schemaVersion": 39,
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                _variable("cluster", "maintainer_store_up"),
                _variable("namespace", 'maintainer_store_up{cluster="$cluster"}'),
            ]
        },
        "panels": [],
    }
    x = y = 0
    for number, panel in enumerate(panels, start=1):
        document["panels"].append(_panel(number, panel, x, y))
        x += panel.width
        if x >= WIDTH:
            x, y = 0, y + HEIGHT
    return json.dumps(document, indent=1) + "\n"


def _panel(number: int, panel: Panel, x: int, y: int) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${datasource}"}
    return {
        "id": number,
        "title": panel.title,
        "type": panel.kind,
        "datasource": source,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": source, "expr": _of_installation(query)}
            | ({"legendFormat": legend} if legend else {})
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def write_fleet() -> str:
    """The dashboard of the fleet."""
    return _write("fleet", _FLEET)


def write_jobs() -> str:
    """The dashboard of jobs, queue, budgets and drivers."""
    return _write("jobs", _JOBS)


def write_daemon() -> str:
    """The dashboard of steps, catalogs and the store."""
    return _write("daemon", _DAEMON)
