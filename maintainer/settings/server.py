"""Where the API and the page are served, and to whom."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from maintainer.adapters.policies.validation import Strict, refuse


def check_auth(value: object) -> object:
    """Nothing yet: a key that did nothing would be believed."""
    if value != {}:
        refuse("is not supported in this version; leave it out")
    return value


class ServerSettings(Strict):
    """Where the API and the page are served; port 0 is any free one."""

    host: Annotated[str, Field(min_length=1, max_length=255)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
