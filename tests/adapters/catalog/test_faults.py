"""A fault of a table or a catalog is reported, not raised, and hides no others."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import (
    ForbiddenError,
    NoSuchIcebergTableError,
    NoSuchTableError,
    ServiceUnavailableError,
)
from pyiceberg.table import Table
from pyiceberg.typedef import Identifier

from maintainer.adapters.catalog.faults import MAX_REASON_CHARACTERS, explain, secrets_of
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault, TableInventory
from tests.adapters.catalog.lake import (
    Lake,
    StoppedClock,
    identify,
    know_nothing,
    local_path,
    rows,
    small_target,
    total,
)

ORDERS = identify("sales", "orders")


def fault_of(lake: Lake) -> TableFault:
    found = lake.catalog.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(found, TableFault), found
    assert "\n" not in found.reason
    return found


def make_orders(lake: Lake, appends: int = 2) -> Table:
    table = lake.make_table("sales", "orders")
    for _ in range(appends):
        table.append(rows(10))
    return table


def rewrite_metadata(lake: Lake, table: Table, **changes: object) -> None:
    path = local_path(table.metadata_location)
    document = json.loads(path.read_bytes()) | {
        key.replace("_", "-"): value for key, value in changes.items()
    }
    changed = path.with_name("v99.metadata.json")
    changed.write_text(
        json.dumps({key: value for key, value in document.items() if value is not None})
    )
    lake.point_to(f"file://{changed}", "orders")


def test_metadata_that_is_gone_is_missing(lake: Lake) -> None:
    local_path(make_orders(lake).metadata_location).unlink()
    fault = fault_of(lake)
    assert fault.kind is FaultKind.METADATA_MISSING
    assert ".metadata.json" in fault.reason


def test_a_row_without_a_metadata_location_is_missing_metadata(lake: Lake) -> None:
    make_orders(lake)
    lake.point_to(None, "orders")
    assert fault_of(lake).kind is FaultKind.METADATA_MISSING


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"[1, 2]",
        b"\xff\xfe{}",
        b'{"format-version": "two"}',
        b"[" * 100_000,
        b"\x1f\x8bgarbage",
        gzip.compress(b"x" * 9999)[:-20],
    ],
    ids=["empty", "text", "a list", "no utf-8", "wrong type", "deep", "no gzip", "cut gzip"],
)
def test_metadata_that_cannot_be_decoded_is_corrupt(lake: Lake, content: bytes) -> None:
    local_path(make_orders(lake).metadata_location).write_bytes(content)
    assert fault_of(lake).kind is FaultKind.METADATA_CORRUPT


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_metadata_cut_short_is_corrupt(lake: Lake, share: float) -> None:
    path = local_path(make_orders(lake).metadata_location)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    assert fault_of(lake).kind is FaultKind.METADATA_CORRUPT


def test_a_current_snapshot_that_is_not_there_is_corrupt(lake: Lake) -> None:
    rewrite_metadata(lake, make_orders(lake), current_snapshot_id=42)
    assert fault_of(lake).kind is FaultKind.METADATA_CORRUPT


@pytest.mark.parametrize("version", [0, 4, 99])
def test_a_format_version_that_we_do_not_know_is_unsupported(lake: Lake, version: int) -> None:
    rewrite_metadata(lake, make_orders(lake), format_version=version)
    fault = fault_of(lake)
    assert fault.kind is FaultKind.UNSUPPORTED
    assert f"format version {version}" in fault.reason


def test_a_later_version_with_another_shape_is_unsupported_rather_than_corrupt(lake: Lake) -> None:
    rewrite_metadata(lake, make_orders(lake), format_version=4, snapshots="elsewhere")
    assert fault_of(lake).kind is FaultKind.UNSUPPORTED


def test_json_that_is_not_icebergs_is_unsupported(lake: Lake) -> None:
    local_path(make_orders(lake).metadata_location).write_text(
        '{"protocol": {"minReaderVersion": 3}}'
    )
    assert fault_of(lake).kind is FaultKind.UNSUPPORTED


def test_a_views_metadata_is_a_view_even_where_the_catalog_does_not_say_so(lake: Lake) -> None:
    view = {
        "view-uuid": "x",
        "format-version": 1,
        "location": "file:///v",
        "current-version-id": 1,
        "versions": [],
        "properties": {},
    }
    local_path(make_orders(lake).metadata_location).write_text(json.dumps(view))
    assert fault_of(lake).kind is FaultKind.VIEW


def test_a_scheme_that_no_file_io_knows_is_unsupported(lake: Lake) -> None:
    make_orders(lake)
    lake.point_to("gopher://host/v1.metadata.json", "orders")
    assert fault_of(lake).kind is FaultKind.UNSUPPORTED


def test_a_negative_current_snapshot_means_none(lake: Lake) -> None:
    rewrite_metadata(lake, make_orders(lake), current_snapshot_id=-1, refs=None)
    assert lake.read("sales", "orders").current_snapshot_id is None


def test_a_manifest_list_that_is_gone_leaves_the_manifests_unknown(lake: Lake) -> None:
    snapshot = make_orders(lake).current_snapshot()
    assert snapshot is not None
    local_path(snapshot.manifest_list).unlink()
    inventory = lake.read("sales", "orders")
    assert inventory.manifests == ()
    (lost,) = inventory.unreadable
    assert (lost.path, lost.reason, lost.of_snapshot) == (
        snapshot.manifest_list,
        "manifest list: the file does not exist",
        snapshot.snapshot_id,
    )
    assert len(inventory.snapshots) == 2


def cut(raw: bytes) -> bytes:
    return raw[: len(raw) * 2 // 3]


def cut_header(raw: bytes) -> bytes:
    return raw[:50]


def empty(_raw: bytes) -> bytes:
    return b""


def flip_last(raw: bytes) -> bytes:
    return raw[:-1] + bytes([raw[-1] ^ 0x10])


def spoil_block(raw: bytes) -> bytes:
    """Deflate has no checksum, so a flip may stay unnoticed; a first byte that names a kind of
    block that deflate does not have never does.
    """
    start = (
        raw.rindex(raw[-16:], 0, len(raw) - 16) + 16 + 1 + 2
    )  # behind a sync marker, the count and the size
    return raw[:start] + b"\xff" + raw[start + 1 :]


@pytest.mark.parametrize("damage", [cut, cut_header, empty, flip_last, spoil_block])
def test_a_damaged_manifest_is_named_and_the_others_count(
    lake: Lake, damage: Callable[[bytes], bytes]
) -> None:
    make_orders(lake, appends=3)
    whole = lake.read("sales", "orders")
    victim = local_path(whole.manifests[1].path)
    victim.write_bytes(damage(victim.read_bytes()))
    inventory = lake.read("sales", "orders")
    assert [u.path for u in inventory.unreadable] == [whole.manifests[1].path]
    assert inventory.unreadable[0].reason.startswith("manifest: ")
    assert inventory.manifests == (whole.manifests[0], whole.manifests[2])
    assert total(inventory)[2] == 20
    assert (
        lake.catalog.count_rows(ORDERS, inventory.current_snapshot_id or 0, limit_bytes=10**9)
        is None
    )


def test_a_manifest_that_is_gone_is_named(lake: Lake) -> None:
    make_orders(lake, appends=3)
    path = lake.read("sales", "orders").manifests[0].path
    local_path(path).unlink()
    inventory = lake.read("sales", "orders")
    assert [(u.path, u.reason) for u in inventory.unreadable] == [
        (path, "manifest: the file does not exist")
    ]
    assert len(inventory.manifests) == 2


@pytest.mark.slow
def test_no_flipped_bit_of_a_manifest_ever_raises(lake: Lake) -> None:
    make_orders(lake, appends=1)
    whole = lake.read("sales", "orders")
    victim = local_path(whole.manifests[0].path)
    raw = victim.read_bytes()
    outcomes = set()
    for position in range(0, len(raw), 7):
        victim.write_bytes(
            raw[:position] + bytes([raw[position] ^ (1 << position % 8)]) + raw[position + 1 :]
        )
        outcomes.add(bool(lake.read("sales", "orders").unreadable))
    assert outcomes == {
        True,
        False,
    }  # a bit of the stored schema's documentation may flip unnoticed


def test_a_table_that_moves_on_while_it_is_read_is_read_where_it_is_now(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_orders(lake, appends=1)
    stale = lake.read("sales", "orders")
    read_at: list[str] = []
    original = lake.catalog._inventories._open_once

    async def open_and_move_on(table: TableIdentifier) -> tuple[str, object]:
        opened = await original(table)
        if not read_at:
            commit_and_expire(lake, stale)
        read_at.append(opened[0])
        return opened

    monkeypatch.setattr(lake.catalog._inventories, "_open_once", open_and_move_on)
    assert lake.read("sales", "orders").unreadable == ()
    assert read_at == [stale.metadata_location, f"file://{lake.directory}/moved.metadata.json"]


def commit_and_expire(lake: Lake, stale: TableInventory) -> None:
    """The table becomes empty, and the files of its only snapshot are removed."""
    document = json.loads(local_path(stale.metadata_location).read_bytes()) | {
        "current-snapshot-id": -1,
        "refs": {},
    }
    moved = lake.directory / "moved.metadata.json"
    moved.write_text(json.dumps(document))
    lake.point_to(f"file://{moved}", "orders")
    for manifest in stale.manifests:
        local_path(manifest.path).unlink()


def test_a_missing_catalog_file_is_not_created(tmp_path: Path) -> None:
    catalog = PyIcebergCatalog(
        "lake", {"type": "sql", "uri": f"sqlite:///{tmp_path}/absent.db"}, StoppedClock()
    )
    with pytest.raises(CatalogUnavailableError, match=r"absent\.db does not exist"):
        catalog.ping()
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_a_catalog_is_not_given_one(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    catalog = PyIcebergCatalog(
        "lake", {"type": "sql", "uri": f"sqlite:///{tmp_path}/empty.db"}, StoppedClock()
    )
    with pytest.raises(CatalogUnavailableError, match="no table iceberg_tables"):
        catalog.ping()
    assert (tmp_path / "empty.db").stat().st_size == 0


@contextmanager
def closed_port() -> Iterator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound, never listening: connections are refused
        yield bound.getsockname()[1]


@pytest.mark.parametrize("kind", ["rest", "sql"])
def test_a_server_that_refuses_is_one_clear_line_without_secrets(kind: str) -> None:
    with closed_port() as port:
        uris = {
            "rest": f"http://127.0.0.1:{port}",
            "sql": f"postgresql+psycopg2://reader:hunter22@127.0.0.1:{port}/x",
        }
        catalog = PyIcebergCatalog(
            "lake", {"type": kind, "uri": uris[kind], "token": "tok-12345"}, StoppedClock()
        )
        (fault,) = catalog.tables()
        assert isinstance(fault, CatalogFault)
        assert fault.reason.startswith("catalog lake cannot be reached: ")
        assert "hunter22" not in fault.reason
        assert "tok-12345" not in fault.reason
        assert "\n" not in fault.reason
        found = catalog.inventory(ORDERS, small_target, know_nothing)
        assert isinstance(found, TableFault)
        assert found.kind is FaultKind.CATALOG_UNAVAILABLE
        with pytest.raises(CatalogUnavailableError):
            catalog.ping()


def test_properties_that_name_no_catalog_are_one_clear_line() -> None:
    with pytest.raises(CatalogUnavailableError, match="catalog lake cannot be reached: "):
        PyIcebergCatalog("lake", {"type": "stone-tablets"}, StoppedClock()).ping()


def test_secrets_are_blanked_wherever_they_appear() -> None:
    properties = {
        "s3.secret-access-key": "abcdef",
        "uri": "postgresql://me:pass-word@host/db",
        "credential": "id:key",
        "warehouse": "s3://w",
    }
    text = explain(
        ValueError(
            "abcdef at postgresql://me:pass-word@host with id:key,\n Bearer xyz and "
            "?X-Amz-Signature=feed&a=1"
        ),
        secrets_of(properties),
    )
    assert text == "*** at postgresql://***@host with ***, Bearer *** and ?X-Amz-Signature=***&a=1"
    assert len(explain(ValueError("x" * 5000))) == MAX_REASON_CHARACTERS
    assert explain(ValueError()) == "ValueError"
    assert (
        explain(
            ValueError("bad client_secret=hush-hush"), secrets_of({"credential": "id:hush-hush"})
        )
        == "bad client_secret=***"
    )


def test_the_address_of_a_server_of_tokens_is_shown() -> None:
    address = "https://127.0.0.1:4242/v1/tokens"
    properties = {"auth.oauth2.token_url": address, "auth.oauth2.client_secret": "hush-hush"}
    error = ValueError(f"{address} refuses hush-hush")
    assert explain(error, secrets_of(properties)) == f"{address} refuses ***"


class WalkedCatalog(NoopCatalog):
    """A catalog other than SQL: namespaces are walked, tables are loaded by name."""

    tree: ClassVar[dict[Identifier, list[Identifier]]] = {
        (): [("a",), ("b",), ("forbidden",)],
        ("a",): [("a", "c"), ("a",)],  # itself once more, as catalogs that list every level do
        ("a", "c"): [],
        ("b",): [],
    }
    failure: ClassVar[Exception] = NoSuchTableError("gone")
    views: ClassVar[set[Identifier]] = set()

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        if namespace not in self.tree:
            message = "not for you"
            raise ForbiddenError(message)
        return self.tree[tuple(namespace)]

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        return [(*namespace, "t")]

    def load_table(self, _identifier: str | Identifier) -> Table:
        raise self.failure

    def view_exists(self, identifier: str | Identifier) -> bool:
        return identifier in self.views


@pytest.fixture
def walked() -> PyIcebergCatalog:
    catalog = PyIcebergCatalog("lake", {}, StoppedClock())
    catalog._loaded = WalkedCatalog("lake")
    return catalog


def test_namespaces_are_walked_once_each_and_one_refusal_does_not_hide_the_rest(
    walked: PyIcebergCatalog,
) -> None:
    found = list(walked.tables())
    assert [t for t in found if not isinstance(t, CatalogFault)] == [
        identify("a", "t"),
        identify("a", "c", "t"),
        identify("b", "t"),
    ]
    (fault,) = (t for t in found if isinstance(t, CatalogFault))
    assert fault.namespace == ("forbidden",)
    assert fault.reason == "namespace forbidden of catalog lake cannot be listed: not for you"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (NoSuchTableError("x"), FaultKind.DROPPED),
        (NoSuchIcebergTableError("x"), FaultKind.UNSUPPORTED),
        (ForbiddenError("x"), FaultKind.ACCESS_DENIED),
        (PermissionError("x"), FaultKind.ACCESS_DENIED),
        (OSError("AWS Error ACCESS_DENIED during HeadObject"), FaultKind.ACCESS_DENIED),
        (ServiceUnavailableError("x"), FaultKind.CATALOG_UNAVAILABLE),
        (ConnectionResetError("x"), FaultKind.CATALOG_UNAVAILABLE),
        (FileNotFoundError("x"), FaultKind.METADATA_MISSING),
    ],
)
def test_a_catalogs_exception_is_reported_as_what_it_means(
    walked: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch, failure: Exception, kind: FaultKind
) -> None:
    monkeypatch.setattr(WalkedCatalog, "failure", failure)
    found = walked.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind is kind


def test_a_name_that_is_a_view_by_now_is_a_view(
    walked: PyIcebergCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WalkedCatalog, "views", {("sales", "orders")})
    found = walked.inventory(ORDERS, small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.kind is FaultKind.VIEW


@pytest.mark.parametrize(
    "name",
    [
        "with.dot",
        "with'quote",
        'double"quote',
        "ünïcode 表",
        "semi;colon -- drop",
        "per%cent_underscore",
    ],
)
def test_names_of_all_kinds_are_listed_and_read(lake: Lake, name: str) -> None:
    lake.make_table("sales", name).append(rows(2))
    (listed,) = lake.catalog.tables()
    assert listed == identify("sales", name)
    assert total(lake.read("sales", name))[2] == 2


def test_what_another_catalog_keeps_in_the_same_database_is_not_ours(lake: Lake) -> None:
    make_orders(lake)
    lake.execute(
        "insert into iceberg_tables (catalog_name, table_namespace, table_name, "
        "metadata_location) values ('theirs', 'sales', 'x', 'file:///x')"
    )
    assert list(lake.catalog.tables()) == [ORDERS]


def test_a_database_of_the_older_layout_without_types_reads_too(lake: Lake) -> None:
    make_orders(lake)
    lake.execute("alter table iceberg_tables drop column iceberg_type")
    assert list(lake.catalog.tables()) == [ORDERS]
    assert total(lake.read("sales", "orders"))[2] == 20
