"""A maintenance daemon for Apache Iceberg tables: it measures, decides, acts, and proves what it
achieved.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> str:
    """Return the version, which is read at its first use: the import of the library is slow."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415

    return version("iceberg-maintainer")
