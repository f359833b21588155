"""Catalogs through PyIceberg; metadata files through our own readers."""

from maintainer.adapters.catalog.pace import PollLimits
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog

__all__ = ["PollLimits", "PyIcebergCatalog"]
