"""Orphan files in an object store: listed by many requests at once, compared by Spark, put aside,
brought back and deleted there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from moto.s3.models import s3_backends
from pyiceberg.catalog.sql import SqlCatalog

from maintainer.adapters.catalog.files import listing
from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.orphan import OrphanListState
from maintainer.domain.policy import RuleName
from maintainer.requests.approval import approve_list, restore_list
from tests.adapters.spark.lakes import Lake, WallClock, runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.amazon import (
    ACCESS_KEY_ID,
    REGION,
    SECRET_ACCESS_KEY,
    client,
    create_bucket,
    serve_amazon,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RULE = RuleName.REMOVE_ORPHAN_FILES
OLD = timedelta(days=30)
KEYS = {
    "s3.access-key-id": ACCESS_KEY_ID,
    "s3.secret-access-key": SECRET_ACCESS_KEY,
    "s3.region": REGION,
    "s3.path-style-access": "true",
}
POLICY = """
tables: "*"
mode: enforce
rules:
  remove_orphan_files: {older_than: 3d, quarantine: 7d}
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serve_amazon() as address:
        yield address


class Bucket:
    """What lies on the server, by the keys there."""

    def __init__(self, endpoint: str) -> None:
        self.client = client("s3", endpoint)
        create_bucket(endpoint, "lake")

    def put(self, key: str, body: bytes = b"left over by a writer that failed") -> str:
        self.client.put_object(Bucket="lake", Key=key, Body=body)
        return key

    def keys(self) -> set[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="lake")
        return {found["Key"] for page in pages for found in page.get("Contents", ())}

    def grow_old(self, *but: str) -> None:
        """The server's own clock cannot be asked for an older object: the server is in this
        process.
        """
        for found in s3_backends["123456789012"]["aws"].buckets["lake"].keys.values():
            if found.name not in but:
                found.last_modified = (WallClock().now() - OLD).replace(tzinfo=None)


class S3Lake(Lake):
    """The same tables in a bucket."""

    def __init__(self, root: Path, endpoint: str) -> None:
        self.root = root
        self.properties = {
            "type": "sql",
            "uri": f"sqlite:///{root}/catalog.db",
            "warehouse": "s3://lake/warehouse",
            "s3.endpoint": endpoint,
            **KEYS,
        }
        self.catalog = SqlCatalog("lake", **self.properties)
        self.spark = spark_configuration("lake", self.properties, {})


@pytest.fixture(scope="module")
def bucket(endpoint: str) -> Bucket:
    return Bucket(endpoint)


@pytest.fixture(scope="module")
def workshop(
    endpoint: str, bucket: Bucket, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workshop]:
    del bucket  # it must be there
    lake = S3Lake(tmp_path_factory.mktemp("lake"), endpoint)
    with (
        closing(runner_on([lake], tmp_path_factory.mktemp("run"), "orphans-s3")) as runner,
        open_workshop(lake, runner, POLICY) as opened,
    ):
        yield opened


def done(workshop: Workshop, table: TableIdentifier) -> Job:
    job = workshop.run(table, RULE)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    return job


def test_orphans_in_an_object_store_are_found_put_aside_brought_back_and_deleted(
    workshop: Workshop, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE_FILES", 5)
    table = workshop.create(
        "t",
        "id bigint, part int",
        "PARTITIONED BY (part)",
        "",
        tuple(f"SELECT id, id % 3 FROM range({n}00)" for n in (1, 2)),
    )
    own = workshop.look(table).location.removeprefix("s3://lake/")
    live = bucket.keys()
    names = (
        "data/stray.parquet",
        "data/part=1/it's a {stray}.parquet",
        "data/part=9/x.parquet",
        "metadata/0a1b-m0.avro",
    )
    strays = {bucket.put(f"{own}/{name}") for name in names}
    harmless = {
        bucket.put(f"{own}/{name}")
        for name in ("data/young.parquet", "metadata/flink.job-id.7", "data/_temporary/0/x.parquet")
    }
    harmless |= {bucket.put(f"{own}/metadata/", b""), bucket.put(f"{own}_2/data/sibling.parquet")}
    bucket.grow_old(f"{own}/data/young.parquet")
    workshop.grow_old(table, OLD)

    look = done(workshop, table)
    assert isinstance(look.action, RemoveOrphanFiles)
    assert look.action.is_listed
    (orphans,) = workshop.store.orphan_lists(table)
    assert (orphans.files, orphans.state) == (len(strays), OrphanListState.WAITING)
    assert bucket.keys() == live | strays | harmless, "a look deletes nothing"

    approve_list(workshop.ports, table, orphans.list_id, "ada", orphans.sha256)
    removal = done(workshop, table)
    assert removal.effect is not None
    assert removal.effect.orphans_removed == len(strays)
    aside = {
        key.replace(f"{own}/", f"{own}/_maintainer_quarantine/{orphans.list_id}/", 1)
        for key in strays
    }
    assert bucket.keys() == live | aside | harmless

    restore_list(workshop.ports, table, orphans.list_id, "ada")
    done(workshop, table)
    assert bucket.keys() == live | strays | harmless
    assert workshop.lake.rows(table) == 300
