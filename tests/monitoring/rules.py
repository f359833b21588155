"""The alert rules of the chart."""

from __future__ import annotations

from typing import Any, Final

import yaml

from tests.helm.charts import CHART

RULES_FILE: Final = CHART / "monitoring/alerts.yaml"


def read_rules() -> list[dict[str, Any]]:
    """The rules, in order."""
    [group] = yaml.safe_load(RULES_FILE.read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules
