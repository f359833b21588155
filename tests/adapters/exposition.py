"""A telemetry in a test, and what it exposes."""

from __future__ import annotations

from typing import Any

from maintainer.adapters.telemetry.gauges import GaugeOptions
from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Budget
from maintainer.ports.store import Store
from tests.api.nouns import NOW
from tests.fakes.adapters.clock import FakeClock


def named(name: str) -> TableIdentifier:
    return TableIdentifier("lake", ("sales",), name)


def make_telemetry(store: Store, **options: Any) -> PrometheusTelemetry:
    rules = AdmissionRules(fleet=Budget(bytes_per_day=10**12, name="the fleet"))
    chosen = GaugeOptions(("lake", "sea"), admission=rules, **options)
    telemetry = PrometheusTelemetry(store, FakeClock(NOW), chosen)
    telemetry.watch_steps(lambda: [("scan", 12.0, False), ("plan", 7200.0, True)])
    return telemetry


def read(telemetry: PrometheusTelemetry) -> dict[str, float]:
    """Series as written, and their values."""
    lines = telemetry.render()[0].decode().splitlines()
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in lines
        if not line.startswith("#")
    }
