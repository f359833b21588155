"""Apache Polaris as another source of policies."""

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
    """Whose catalog it is here, and where; what is left out is taken from that catalog's own properties.

    Without tables only what is attached to the catalog and to namespaces is read: one request a namespace instead of one a table.
    """

    catalog: Annotated[str, Field(min_length=1, max_length=100)]
    uri: _Uri | None = None
    prefix: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    token: str | None = Field(None, repr=False)
    credential: str | None = Field(None, repr=False)
    scope: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    oauth_uri: _Uri | None = None
    tables: bool = True
    interval: Annotated[timedelta, DurationBetween("10s", "1d")] = timedelta(minutes=5)
    timeout: Annotated[timedelta, DurationBetween("100ms", "5m")] = timedelta(seconds=10)
    deadline: Annotated[timedelta, DurationBetween("1s", "1h")] = timedelta(minutes=5)
    max_requests: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000
