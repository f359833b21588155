"""A maintenance daemon for Apache Iceberg tables: it measures, decides, acts, and proves what it
achieved.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> str:
    """The version, read on first use: the library that reads it is slow to import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415

    return version("iceberg-maintainer")
