"""Catalogs through PyIceberg; metadata files through our own readers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
    from maintainer.adapters.catalog.reader import MetadataReader, ReadCount, ReadLimits
    from maintainer.adapters.catalog.tables.request_rate import PollLimits

__all__ = ["MetadataReader", "PollLimits", "PyIcebergCatalog", "ReadCount", "ReadLimits"]

_MODULES = {
    "MetadataReader": "reader",
    "PollLimits": "tables.request_rate",
    "PyIcebergCatalog": "pyiceberg_catalog",
    "ReadCount": "reader",
    "ReadLimits": "reader",
}


def __getattr__(name: str) -> object:
    """Import names on first use.

    A decoding process needs the readers alone and starts ten times faster without the rest.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
