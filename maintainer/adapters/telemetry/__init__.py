"""Prometheus metrics: counters of this process, and gauges from the store."""

from __future__ import annotations

from maintainer.adapters.telemetry.gauges import GaugeOptions
from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry

__all__ = ["GaugeOptions", "PrometheusTelemetry"]
