"""A maintenance daemon for Apache Iceberg tables: it measures, decides, acts, and proves what it
achieved.
"""

from importlib.metadata import version

__version__ = version("iceberg-maintainer")
