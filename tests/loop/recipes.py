"""The configuration of each cell, with names of a site in place of the tests' addresses.

docs/catalogs.md prints them. The loop checks that its own configuration is the same, apart from
what `is_of_tests` names.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.loop.cells import CatalogKind, Cell, StorageKind

Recipe = dict[str, str | dict[str, str]]

_NESSIE = {"type": "rest", "uri": "https://nessie.example/iceberg/main", "warehouse": "lake"}
_CATALOGS: Mapping[CatalogKind, Mapping[str, str]] = {
    CatalogKind.SQLITE: {"type": "sql", "uri": "sqlite:////var/lib/lake/catalog.db"},
    CatalogKind.POSTGRESQL: {
        "type": "sql",
        "uri": "postgresql+psycopg://maintainer:${CATALOG_PASSWORD}@postgres.example:5432/lake",
    },
    CatalogKind.REST: {"type": "rest", "uri": "https://catalog.example/"},
    CatalogKind.NESSIE: _NESSIE,
    CatalogKind.NESSIE_SIGNING: _NESSIE,
    CatalogKind.NESSIE_VENDING: _NESSIE,
}
_S3 = {
    "s3.endpoint": "https://storage.example",
    "s3.access-key-id": "${S3_KEY}",
    "s3.secret-access-key": "${S3_SECRET}",
    "s3.region": "eu-central-1",
    "s3.path-style-access": "true",
}
_BY_HADOOP = {"io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}
_STORAGES: Mapping[StorageKind, Recipe] = {
    StorageKind.LOCAL: {"warehouse": "file:///var/lib/lake/warehouse"},
    StorageKind.S3: {"warehouse": "s3://lake/warehouse", **_S3},
    StorageKind.HDFS: {
        "warehouse": "hdfs://namenode.example:8020/warehouse",
        "spark": _BY_HADOOP,
    },
    StorageKind.GCS: {
        "warehouse": "gs://lake/warehouse",
        "gcs.service.host": "https://storage.example",
        "gcs.project-id": "analytics",
        "gcs.oauth2.token": "${GCS_TOKEN}",
        "gcs.oauth2.token-expires-at": "${GCS_TOKEN_END}",
    },
    StorageKind.OFS: {
        "warehouse": "ofs://om/volume/warehouse",
        **_S3,
        "locations": {"ofs://om/volume/": "s3://ofs/"},
        "spark": _BY_HADOOP,
    },
    StorageKind.OSS: {
        "warehouse": "oss://account/volume/warehouse",
        **_S3,
        "locations": {"oss://account/volume/": "s3://oss/"},
        "spark": _BY_HADOOP,
    },
}


def recipe(cell: Cell) -> Recipe:
    """The cell's section under `catalogs:`."""
    if cell.catalog is CatalogKind.NESSIE_VENDING:
        return dict(_NESSIE)
    catalog = _CATALOGS[cell.catalog]
    found = {**catalog, **_STORAGES[cell.storage], **catalog}  # its own name of the warehouse
    if cell.catalog is CatalogKind.NESSIE_SIGNING:
        found["spark"] = {
            "s3.access-key-id": "",
            "s3.secret-access-key": "",
            "header.X-Iceberg-Access-Delegation": "remote-signing",
        }
    return found


def is_of_tests(name: str) -> bool:
    """Whether that setting of Spark is there for a test's server alone."""
    return name.startswith(("spark.hadoop.fs.", "signer."))
