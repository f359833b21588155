"""What `maintainer doctor` says about a catalog, for each way in which one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from maintainer.adapters.catalog.files import access
from maintainer.adapters.catalog.reader import MetadataReader, ReadLimits
from maintainer.adapters.catalog.tables import loading
from maintainer.adapters.catalog.trial import MAX_TABLES, Trial, choose
from maintainer.domain.location import Aliases
from tests.adapters.catalog.lake import Lake, StoppedClock, identify, rows


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with closing(Lake(tmp_path)) as made:
        yield made


def make_tables(lake: Lake, *names: str) -> None:
    for name in names:
        lake.make_table("sales", name).append(rows(10))


def run(
    properties: Mapping[str, str], aliases: Aliases | None = None, limits: ReadLimits | None = None
) -> tuple[list[str], list[str]]:
    """The sentences about what fails, in the order of the alphabet, and about what works."""
    with closing(MetadataReader(limits)) as reader:
        trial = Trial("lake", properties, aliases or Aliases(), reader, StoppedClock())
        found = list(trial.run())
    assert trial.step() == ""
    return (
        sorted(sentence for is_fine, sentence in found if not is_fine),
        [sentence for is_fine, sentence in found if is_fine],
    )


def find_metadata(lake: Lake, table: str, pattern: str) -> Path:
    return max((lake.directory / "warehouse" / "sales" / table / "metadata").glob(pattern))


def test_an_empty_catalog_is_fine_and_says_so(lake: Lake) -> None:
    lake.writer.create_namespace("sales")
    assert run(lake.properties) == (
        [],
        ["it answers and has 1 namespace and no table, so no file was read"],
    )


def test_tables_are_read_down_to_a_manifest_and_their_files_listed(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tables(lake, "orders")
    lake.make_table("stock", "empty")
    read = list[str]()
    here = access._read_here

    def note(path: str, *bounds: int) -> bytes | None:
        read.append(path)
        return here(path, *bounds)

    monkeypatch.setattr(access, "_read_here", note)
    assert run(lake.properties) == (
        [],
        [
            (
                "it answers and has 2 tables in 2 namespaces; 2 of 2 tried were read: metadata "
                "file, manifest list, a manifest, list of files"
            )
        ],
    )
    manifest_list = find_metadata(lake, "orders", "snap-*.avro")
    manifest = find_metadata(lake, "orders", "*-m0.avro")
    assert {str(manifest_list), str(manifest)} <= set(read)
    assert len(read) == 4


def test_a_table_that_cannot_be_read_does_not_end_the_check_of_the_others(lake: Lake) -> None:
    make_tables(lake, "a", "b", "c", "d", "e")
    for file in (lake.directory / "warehouse/sales/a/metadata").glob("*.metadata.json"):
        file.unlink()
    gone = find_metadata(lake, "b", "snap-*.avro")
    gone.unlink()
    cut = find_metadata(lake, "c", "*-m0.avro")
    cut.write_bytes(cut.read_bytes()[:200])
    broken = find_metadata(lake, "d", "*.metadata.json")
    broken.write_bytes(broken.read_bytes()[:200])
    failures, fine = run(lake.properties)
    begins = [
        "cannot read a manifest of sales.c: file:///",
        "cannot read the manifest list of sales.b: file:///",
        "cannot read the metadata file of sales.a: file:///",
        "cannot read the metadata file of sales.d: file:///",
    ]
    assert [failure.startswith(start) for failure, start in zip(failures, begins, strict=True)] == [
        True
    ] * 4, failures
    assert f"/{cut.name}: manifest: it has 200 bytes, the manifest list says " in failures[0]
    assert "To fix: restore the damaged file from a copy, or set the table back" in failures[0]
    assert f"/{gone.name}: manifest list: the file does not exist. To fix: restore" in failures[1]
    assert ".metadata.json: the file does not exist. To fix: restore the file" in failures[2]
    assert "To fix: restore the damaged file from a copy" in failures[3]
    assert [sentence.partition(";")[2][:24] for sentence in fine] == [" 1 of 5 tried were read:"]


def test_a_scheme_that_nobody_here_reads_needs_another_name(lake: Lake) -> None:
    make_tables(lake, "orders")
    written = str(find_metadata(lake, "orders", "*.metadata.json"))
    lake.point_to(f"ofs://om{'/.' * 200}{written}", "orders")  # longer than a reason may be
    failures, _ = run(lake.properties)
    assert len(failures) == 1
    assert failures[0].startswith("cannot read the metadata file of sales.orders: ofs://om/")
    assert failures[0].endswith('settings: locations: {"ofs://om/": "s3://BUCKET/"}')
    lake.point_to(f"ofs://om{written}", "orders")
    named = Aliases((("ofs://om/", "file:///"),))
    assert run(lake.properties, named)[0] == []


def test_a_scheme_that_the_settings_do_not_allow_is_named(lake: Lake) -> None:
    make_tables(lake, "orders")
    failures, _ = run(lake.properties, limits=ReadLimits(locations=("s3://lake",)))
    assert len(failures) == 1
    assert failures[0].endswith("To fix: add file to scan.locations")


def test_a_catalog_without_its_database_says_so(tmp_path: Path) -> None:
    failures, fine = run({"type": "sql", "uri": f"sqlite:///{tmp_path}/none.db"})
    assert failures == [
        (
            f"catalog lake cannot be reached: the SQLite file {tmp_path}/none.db does not exist. "
            f"To fix: check uri; or create the first table, which makes the catalog"
        )
    ]
    assert fine == []


def test_a_server_that_does_not_listen_says_so() -> None:
    assert run({"type": "rest", "uri": "http://127.0.0.1:1"})[0] == [
        (
            "catalog lake cannot be reached: nothing listens at http://127.0.0.1:1 (Connection "
            "refused). To fix: check uri, that the server runs, and that a firewall or proxy lets "
            "the daemon through"
        )
    ]


def test_a_missing_extra_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_PACKAGES", {"hive": ("package_of_nobody", "hive")})
    failures, _ = run({"type": "hive", "uri": "thrift://127.0.0.1:1"})
    assert "package-of-nobody, which is not installed" in failures[0]
    assert "pip install 'iceberg-maintainer[hive]'. To fix: run that command" in failures[0]


def test_a_database_that_cannot_be_listed_is_a_failure_of_that_step(lake: Lake) -> None:
    make_tables(lake, "orders")
    lake.execute("alter table iceberg_tables rename column metadata_location to elsewhere")
    failures, fine = run(lake.properties)
    assert len(failures) == 1
    assert failures[0].startswith(("cannot reach the catalog: ", "cannot list its tables: "))
    assert fine == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.1", "a.2", "b.1", "a.3", "c.1"], ["a.1", "b.1", "c.1", "a.2", "a.3"]),
        ([f"a.{number}" for number in range(9)], [f"a.{number}" for number in range(MAX_TABLES)]),
        ([f"{number}.t" for number in range(9)], [f"{number}.t" for number in range(MAX_TABLES)]),
    ],
)
def test_the_tables_tried_are_of_as_many_namespaces_as_possible(
    names: list[str], expected: list[str]
) -> None:
    chosen = choose([identify(*name.split(".")) for name in names])
    assert [".".join((*table.namespace, table.name)) for table in chosen] == expected


def test_what_is_under_way_is_known(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tables(lake, "orders")
    seen = list[str]()
    watch(monkeypatch, lambda: seen.append(trial.step()))
    with closing(MetadataReader()) as reader:
        trial = Trial("lake", lake.properties, Aliases(), reader, StoppedClock())
        list(trial.run())
    assert seen == [
        "read the metadata file of sales.orders",
        "read the manifest list of sales.orders",
        "read a manifest of sales.orders",
    ]


def watch(monkeypatch: pytest.MonkeyPatch, tell: Callable[[], None]) -> None:
    """Call `tell` before each file is read."""
    here = access._read_here

    def read(path: str, *bounds: int) -> bytes | None:
        tell()
        return here(path, *bounds)

    monkeypatch.setattr(access, "_read_here", read)
