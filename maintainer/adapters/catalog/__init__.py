"""Catalogs through PyIceberg; metadata files through our own readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maintainer.adapters.catalog.pace import PollLimits
    from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog

__all__ = ["PollLimits", "PyIcebergCatalog"]


def __getattr__(name: str) -> object:
    """Import what is asked for: a decoding process needs the readers alone, and starts ten times faster without the rest."""
    match name:
        case "PollLimits":
            from maintainer.adapters.catalog.pace import PollLimits  # noqa: PLC0415 - as said above

            return PollLimits
        case "PyIcebergCatalog":
            from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog  # noqa: PLC0415 - as above

            return PyIcebergCatalog
        case _:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
