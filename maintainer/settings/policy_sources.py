"""Settings of further sources of policies: Apache Polaris, and resources of Kubernetes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.texts import check_pattern
from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.settings.paths import read_path
from maintainer.settings.spark.clusters import Label


def _check_uri(value: object) -> object:
    if isinstance(value, str) and not value.startswith(("http://", "https://")):
        refuse("must begin with http:// or https://")
    return value


_Uri = Annotated[str, BeforeValidator(_check_uri), Field(max_length=2000)]


class PolarisSettings(Strict):
    """Policies in Apache Polaris for one of the catalogs. Without this section none are read."""

    catalog: str = Field(
        min_length=1,
        max_length=100,
        description="The catalog, in this file, whose policies are in Polaris.",
    )
    uri: _Uri | None = Field(
        default=None, description="The address of Polaris. Default: the catalog's `uri`."
    )
    prefix: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None,
        description="The prefix in the paths of requests. Default: the catalog's `warehouse`.",
    )
    token: str | None = Field(
        default=None, repr=False, description="A bearer token. Default: the catalog's."
    )
    credential: str | None = Field(
        default=None,
        repr=False,
        description="Client id and secret, with a colon between them. Default: the catalog's.",
    )
    scope: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="The OAuth2 scope. Default: the catalog's."
    )
    oauth_uri: _Uri | None = Field(
        default=None,
        description="Where tokens are fetched. Default: the catalog's `oauth2-server-uri`.",
    )
    tables: bool = Field(
        default=True,
        description="`false` leaves out policies of single tables: one request per namespace "
        "instead of per table.",
    )
    interval: Annotated[timedelta, DurationBetween("10s", "1d")] = Field(
        default=timedelta(minutes=5), description="How often the policies are read."
    )
    timeout: Annotated[timedelta, DurationBetween("100ms", "5m")] = Field(
        default=timedelta(seconds=10), description="The time for one request."
    )
    deadline: Annotated[timedelta, DurationBetween("1s", "1h")] = Field(
        default=timedelta(minutes=5), description="The time for reading all policies once."
    )
    max_requests: int = Field(
        default=20_000,
        ge=1,
        le=1_000_000,
        description="The most requests for reading all policies once.",
    )


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
