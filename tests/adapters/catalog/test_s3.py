"""Tables on a real S3 server: moto on the loopback, which checks signatures and permissions."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import cast

import obstore
import pytest
import requests
from obstore.exceptions import BaseError
from obstore.store import S3Store
from pyiceberg.catalog import load_catalog

from maintainer.adapters.catalog.files import access as reading
from maintainer.adapters.catalog.files import listing
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.inventory import FaultKind, TableFault, TableInventory
from maintainer.domain.orphan import FoundFile
from tests.adapters.catalog.lake import (
    ROWS,
    StoppedClock,
    identify,
    know_nothing,
    rows,
    small_target,
)
from tests.amazon import REGION, client, create_bucket, serve_amazon
from tests.small_http import SmallHandler, serve_on_loopback

pytestmark = pytest.mark.slow

ORDERS = identify("sales", "orders")
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
}


@dataclass
class S3Lake:
    """A SQL catalog whose files lie on the server, and keys that can be given and taken."""

    endpoint: str
    directory: Path
    keys: dict[str, str] = field(default_factory=dict)

    def give_keys(self, user: str) -> dict[str, str]:
        """Keys of a new user, under PyIceberg's names."""
        iam = client("iam", self.endpoint)
        iam.create_user(UserName=user)
        iam.put_user_policy(UserName=user, PolicyName="all", PolicyDocument=json.dumps(POLICY))
        key = iam.create_access_key(UserName=user)["AccessKey"]
        return {
            "s3.access-key-id": key["AccessKeyId"],
            "s3.secret-access-key": key["SecretAccessKey"],
        }

    @contextmanager
    def enforcing(self) -> Iterator[None]:
        """From here on requests without good keys are denied."""
        requests.post(f"{self.endpoint}/moto-api/reset-auth", data=b"0", timeout=10)
        try:
            yield
        finally:
            requests.post(f"{self.endpoint}/moto-api/reset-auth", data=b"inf", timeout=10)

    @property
    def properties(self) -> dict[str, str]:
        return {
            "type": "sql", "uri": f"sqlite:///{self.directory}/catalog.db",
            "warehouse": "s3://lake/warehouse",
            "s3.endpoint": self.endpoint, "s3.region": REGION, **self.keys,
        }  # fmt: skip

    def read(self, **properties: str) -> TableInventory | TableFault:
        with closing(
            PyIcebergCatalog("lake", {**self.properties, **properties}, StoppedClock())
        ) as catalog:
            return catalog.inventory(ORDERS, small_target, know_nothing)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serve_amazon() as address:
        yield address


@pytest.fixture
def lake(endpoint: str, tmp_path: Path) -> S3Lake:
    requests.post(f"{endpoint}/moto-api/reset", timeout=10)
    made = S3Lake(endpoint, tmp_path)
    create_bucket(endpoint, "lake")
    made.keys = made.give_keys("writer")
    writer = load_catalog("lake", **made.properties)
    writer.create_namespace("sales")
    table = writer.create_table("sales.orders", ROWS)
    for count in (10, 200, 3):
        table.append(rows(count))
    table.delete("id < 5")
    writer.close()
    return made


@pytest.fixture
def without_file_io(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that obstore does not do fails."""
    monkeypatch.setattr(reading, "_read_file", None)


def test_obstore_and_pyiceberg_read_the_same(lake: S3Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    by_pyiceberg = lake.read(**{"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"})
    monkeypatch.setattr(reading, "_read_file", None)
    by_obstore = lake.read()
    assert isinstance(by_obstore, TableInventory)
    assert by_obstore.unreadable == ()
    assert by_obstore.metadata_location.startswith("s3://lake/warehouse/")
    assert len(by_obstore.manifests) >= 3
    assert (
        sum(share.record_count for digest in by_obstore.manifests for share in digest.partitions)
        == 200
    ), "the first five rows of each append are deleted"
    assert by_obstore == by_pyiceberg


def test_keys_that_are_wrong_are_an_access_that_is_denied(lake: S3Lake) -> None:
    with lake.enforcing():
        good = lake.read()
        fault = lake.read(
            **{
                "s3.access-key-id": "AKIAWRONGWRONGWRONG",
                "s3.secret-access-key": "quite-wrong-secret",
            }
        )
    assert isinstance(good, TableInventory)
    assert isinstance(fault, TableFault)
    assert fault.kind is FaultKind.ACCESS_DENIED
    assert "quite-wrong-secret" not in fault.reason


def test_a_manifest_that_is_gone_is_said_to_be_gone(lake: S3Lake) -> None:
    good = lake.read()
    assert isinstance(good, TableInventory)
    gone = good.manifests[0].path
    client("s3", lake.endpoint).delete_object(Bucket="lake", Key=gone.removeprefix("s3://lake/"))
    found = lake.read()
    assert isinstance(found, TableInventory)
    assert [(one.path, one.reason) for one in found.unreadable] == [
        (gone, "manifest: the file does not exist")
    ]
    assert found.manifests == good.manifests[1:]


class VendingServer(ThreadingHTTPServer):
    """A REST catalog that has one table and gives keys with it."""

    daemon_threads = True

    def __init__(self, location: str, metadata: object, endpoint: str) -> None:
        super().__init__(("127.0.0.1", 0), VendingHandler)
        self.location, self.metadata, self.endpoint = location, metadata, endpoint
        self.keys: list[Mapping[str, str]] = []  # the next is given first, the last for ever
        self.loads = 0
        self.with_prefix = False


class VendingHandler(SmallHandler):
    server: VendingServer

    def do_GET(self) -> None:
        document: dict[str, object] = {"defaults": {}, "overrides": {}}
        if "/tables/" in self.path:
            self.server.loads += 1
            keys = self.server.keys[0] if len(self.server.keys) == 1 else self.server.keys.pop(0)
            config = {"s3.endpoint": self.server.endpoint, "s3.region": REGION}
            document = {
                "metadata-location": self.server.location,
                "metadata": self.server.metadata,
                "config": config,
            }
            if self.server.with_prefix:
                document["storage-credentials"] = [
                    {"prefix": "s3://other", "config": {"s3.access-key-id": "no"}},
                    {"prefix": "s3://lake/", "config": keys},
                ]
            else:
                document["config"] = {**config, **keys}
        self.answer(200, document)


@pytest.fixture
def vending(lake: S3Lake) -> Iterator[VendingServer]:
    inventory = lake.read()
    assert isinstance(inventory, TableInventory)
    bucket, _, key = inventory.metadata_location.removeprefix("s3://").partition("/")
    metadata = json.loads(
        client("s3", lake.endpoint).get_object(Bucket=bucket, Key=key)["Body"].read()
    )
    server = VendingServer(inventory.metadata_location, metadata, lake.endpoint)
    with serve_on_loopback(server):
        yield server


@pytest.fixture
def catalog(vending: VendingServer) -> Iterator[PyIcebergCatalog]:
    with closing(
        PyIcebergCatalog(
            "lake",
            {"type": "rest", "uri": f"http://127.0.0.1:{vending.server_port}"},
            StoppedClock(),
        )
    ) as opened:
        yield opened


@pytest.mark.parametrize("with_prefix", [False, True])
@pytest.mark.usefixtures("without_file_io")
def test_vended_keys_open_the_table(
    lake: S3Lake, vending: VendingServer, catalog: PyIcebergCatalog, with_prefix: bool
) -> None:
    vending.keys, vending.with_prefix = [lake.give_keys("reader")], with_prefix
    expected = lake.read()
    with lake.enforcing():
        found = catalog.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(found, TableInventory)
    assert isinstance(expected, TableInventory)
    assert replace(found, table=expected.table) == expected
    assert vending.loads == 1


@pytest.mark.usefixtures("without_file_io")
def test_keys_that_are_no_longer_good_are_vended_again(
    lake: S3Lake, vending: VendingServer, catalog: PyIcebergCatalog
) -> None:
    old = lake.give_keys("reader")
    client("iam", lake.endpoint).delete_access_key(
        UserName="reader", AccessKeyId=old["s3.access-key-id"]
    )
    vending.keys = [old, lake.give_keys("second-reader")]
    with lake.enforcing():
        found = catalog.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(found, TableInventory)
    assert found.unreadable == ()
    assert vending.loads == 2


def test_keys_that_never_open_the_table_are_a_fault_after_one_more_load(
    lake: S3Lake, vending: VendingServer, catalog: PyIcebergCatalog
) -> None:
    bad = {"s3.access-key-id": "AKIAWRONGWRONGWRONG", "s3.secret-access-key": "quite-wrong-secret"}
    vending.keys = [bad]
    with lake.enforcing():
        found = catalog.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.ACCESS_DENIED
    assert "quite-wrong-secret" not in found.reason
    assert vending.loads == 2


# -- what lies in a place


def put_files(lake: S3Lake, names: Iterable[str]) -> dict[str, int]:
    """Files under a place of the bucket by their names there, and their sizes."""
    s3 = client("s3", lake.endpoint)
    files = {name: 1 + number % 7 for number, name in enumerate(names)}
    for name, size in files.items():
        s3.put_object(Bucket="lake", Key=f"place/t/{name}", Body=b"x" * size)
    return files


@pytest.mark.parametrize("ranges", [1, 3, 32])
def test_every_file_of_a_place_is_listed_once_however_it_is_divided(
    lake: S3Lake, monkeypatch: pytest.MonkeyPatch, ranges: int
) -> None:
    monkeypatch.setattr(listing, "RANGES_AT_MOST", ranges)
    monkeypatch.setattr(listing, "PAGE_FILES", 7)
    names = [
        f"data/day={day}/hour={hour}/{file}.parquet"
        for day in range(4)
        for hour in range(2)
        for file in range(2)
    ]
    names += [
        "metadata/1.avro",
        "lies beside.parquet",
        "data/lies-beside.parquet",
        "data/day=1",
        "data/day=10/\N{SNOWMAN} it's #1.parquet",
        "zz/a",
        "data!/a",
    ]
    expected = put_files(lake, names)
    s3 = client("s3", lake.endpoint)
    for other in ("place/t_2/data/sibling.parquet", "place/t.parquet", "place/s/x"):
        s3.put_object(Bucket="lake", Key=other, Body=b"x")
    s3.put_object(
        Bucket="lake", Key="place/t/metadata/", Body=b""
    )  # PyArrow's marker of a directory
    with closing(PyIcebergCatalog("lake", lake.properties, StoppedClock())) as catalog:
        portions = catalog.list_files(ORDERS, "s3://lake/place/t/")
        assert portions is not None
        found = [file for portion in portions for file in portion]
    assert sorted((file.path, file.size_bytes) for file in found) == sorted(
        (f"s3://lake/place/t/{name}", size) for name, size in expected.items()
    )
    assert all(
        file.modified_at is not None and file.modified_at.tzinfo is not None for file in found
    )


def test_a_directory_of_many_files_is_listed_page_by_page_and_may_be_left_in_the_middle(
    lake: S3Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE_FILES", 5)
    monkeypatch.setattr(listing, "PAGES_AHEAD", 1)
    opened: list[str] = []
    list_directory = obstore.list_with_delimiter

    def note_and_list(store: S3Store, path: str) -> object:
        opened.append(path)
        return list_directory(store, path)

    monkeypatch.setattr(obstore, "list_with_delimiter", note_and_list)
    put_files(lake, [f"data/{number:03}.parquet" for number in range(20)])
    with closing(PyIcebergCatalog("lake", lake.properties, StoppedClock())) as catalog:
        portions = catalog.list_files(ORDERS, "s3://lake/place/t")
        assert portions is not None
        assert len(next(iter(portions))) <= 5
        assert "place/t/data" not in opened, "one answer would have held all of its files"
        cast("Generator[Sequence[FoundFile]]", portions).close()
        assert [
            thread.name for thread in threading.enumerate() if thread.name.startswith("lists")
        ] == []


def test_a_listing_without_a_right_to_list_raises_what_the_storage_says(lake: S3Lake) -> None:
    with closing(PyIcebergCatalog("lake", lake.properties, StoppedClock())) as catalog:
        portions = catalog.list_files(ORDERS, "s3://lake/warehouse/sales/orders")
        assert portions is not None
        client("iam", lake.endpoint).delete_access_key(
            UserName="writer", AccessKeyId=lake.keys["s3.access-key-id"]
        )
        with lake.enforcing(), pytest.raises(BaseError):
            list(portions)


def test_a_local_place_is_left_to_spark(lake: S3Lake, tmp_path: Path) -> None:
    with closing(PyIcebergCatalog("lake", lake.properties, StoppedClock())) as catalog:
        assert catalog.list_files(ORDERS, f"file://{tmp_path}") is None
