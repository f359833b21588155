"""Settings of Apache Polaris as a further source of policies."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse


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
