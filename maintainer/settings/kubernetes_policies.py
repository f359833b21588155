"""Settings of resources of Kubernetes as a further source of policies."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.texts import check_pattern
from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.settings.paths import read_path
from maintainer.settings.spark.kubernetes import Label


def _check_bound(value: object) -> object:
    checked = check_pattern(value)
    if isinstance(checked, str) and set(checked) & set("?["):
        refuse(f"is {checked!r}, but the only wildcard of a bound is *")
    return checked


class KubernetesPolicySettings(Strict):
    """Policies that are resources of Kubernetes. Without this section none are read."""

    namespaces: dict[
        Label,
        Annotated[list[Annotated[str, BeforeValidator(_check_bound)]], Field(min_length=1)],
    ] = Field(
        min_length=1,
        description="For each namespace of Kubernetes, the list of the tables that its policies "
        "may govern: names, or globs whose only wildcard is `*`, such as `lake.sales.*`.",
    )
    interval: Annotated[timedelta, DurationBetween("1s", "1d")] = Field(
        default=timedelta(seconds=30), description="How often the policies are read."
    )
    status_interval: Annotated[timedelta, DurationBetween("10s", "1d")] = Field(
        default=timedelta(minutes=1),
        description="How often the status of each policy is written, if it has changed.",
    )
    kubeconfig: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The file with the cluster's address and credentials. Default: the daemon's "
        "own service account, else `KUBECONFIG`.",
    )
    context: str = Field(
        default="", description="The context in that file. Default: its current one."
    )
    timeout: Annotated[timedelta, DurationBetween("100ms", "5m")] = Field(
        default=timedelta(seconds=10), description="The time for one request."
    )
