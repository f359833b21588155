"""The pairs of catalog and storage on which the loop is proved; docs/catalogs.md lists them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CatalogKind(StrEnum):
    """A catalog as a person calls it."""

    SQLITE = "SQL on SQLite"
    POSTGRESQL = "SQL on PostgreSQL"
    REST = "REST"
    NESSIE = "REST on Nessie"
    NESSIE_SIGNING = "REST on Nessie, which signs Spark's requests"
    NESSIE_VENDING = "REST on Nessie, which vends keys"


# Nessie deletes files itself, and its metadata lists the newest snapshot alone.
ON_NESSIE = frozenset({CatalogKind.NESSIE, CatalogKind.NESSIE_SIGNING, CatalogKind.NESSIE_VENDING})


class StorageKind(StrEnum):
    """A storage as a person calls it; of two names, Spark's comes first."""

    LOCAL = "local files"
    S3 = "S3"
    HDFS = "HDFS"
    GCS = "GCS"
    OFS = "OFS, read as S3"
    OSS = "OSS, read as S3"


class DuckDBReads(StrEnum):
    """How DuckDB reaches the files of a storage."""

    FILES = "the files"
    S3 = "by S3"
    HTTP = "by HTTP"
    COPIES = "copies of the files"  # it has no client of that storage


DUCKDB_READS = {
    StorageKind.LOCAL: DuckDBReads.FILES,
    StorageKind.S3: DuckDBReads.S3,
    StorageKind.HDFS: DuckDBReads.COPIES,
    StorageKind.GCS: DuckDBReads.HTTP,
    StorageKind.OFS: DuckDBReads.S3,
    StorageKind.OSS: DuckDBReads.S3,
}


@dataclass(frozen=True)
class Cell:
    """One pair."""

    catalog: CatalogKind
    storage: StorageKind

    @property
    def name(self) -> str:
        """The name of its catalog in Spark, and of the test."""
        return f"{self.catalog.name}_{self.storage.name}".lower()


CELLS = (
    Cell(CatalogKind.SQLITE, StorageKind.LOCAL),
    Cell(CatalogKind.SQLITE, StorageKind.S3),
    Cell(CatalogKind.SQLITE, StorageKind.HDFS),
    Cell(CatalogKind.SQLITE, StorageKind.GCS),
    Cell(CatalogKind.POSTGRESQL, StorageKind.LOCAL),
    Cell(CatalogKind.POSTGRESQL, StorageKind.S3),
    Cell(CatalogKind.REST, StorageKind.LOCAL),
    Cell(CatalogKind.REST, StorageKind.S3),
    Cell(CatalogKind.REST, StorageKind.HDFS),
    Cell(CatalogKind.NESSIE, StorageKind.S3),
    Cell(CatalogKind.NESSIE_SIGNING, StorageKind.S3),
    Cell(CatalogKind.NESSIE_VENDING, StorageKind.S3),
    Cell(CatalogKind.SQLITE, StorageKind.OFS),
    Cell(CatalogKind.SQLITE, StorageKind.OSS),
)
# Nessie's REST catalog knows object stores alone.
REFUSED = frozenset(Cell(catalog, StorageKind.LOCAL) for catalog in ON_NESSIE)
