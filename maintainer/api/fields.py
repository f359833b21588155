"""Field types of requests: values of exactly the type that the document names."""

from __future__ import annotations

from re import compile as compile_regex
from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator, StrictBool

_RFC_3339 = compile_regex(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _check_time(value: object) -> object:
    """Refuse numbers and days, which pydantic would read as seconds since 1970 and as midnights."""
    if not isinstance(value, str) or _RFC_3339.fullmatch(value) is None:
        raise ValueError("must be an RFC 3339 time with an offset, like 2026-03-01T12:00:00Z")
    return value


Time = Annotated[AwareDatetime, BeforeValidator(_check_time)]
Flag = StrictBool
