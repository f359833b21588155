from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.location import (
    Aliases,
    ancestors_of,
    is_link_local,
    normalise_path,
    overlap,
    paths_of,
    respell,
)


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("s3://bucket/db/t", "bucket/db/t/"),
        ("s3a://bucket/db/t/", "bucket/db/t/"),
        ("s3n://bucket//db/./t", "bucket/db/t/"),
        ("file:/wh/db/t", "/wh/db/t/"),
        ("file:///wh/db/t", "/wh/db/t/"),
        ("/wh/db/t", "/wh/db/t/"),
        ("hdfs://namenode:8020/wh/db/t", "/wh/db/t/"),
        ("hdfs:///wh/db/t", "/wh/db/t/"),
        ("hdfs:/wh/db/t", "/wh/db/t/"),
        ("abfss://fs@account.host/db/t", "fs@account.host/db/t/"),
        ("wasbs://fs@Account.blob.core.windows.net/t", "fs@account.dfs.core.windows.net/t/"),
        ("abfs://fs@account.dfs.core.windows.net/t", "fs@account.dfs.core.windows.net/t/"),
        ("s3://bucket/db/../t/x/..", "bucket/t/"),
        ("s3://bucket/../..", "bucket/"),
        ("file:///wh/../../t", "/t/"),
        ("s3://bucket", "bucket/"),
        ("file:/", "/"),
    ],
)
def test_every_spelling_of_a_directory_is_one_text(location: str, path: str) -> None:
    assert normalise_path(location) == path


def test_a_table_lies_where_its_properties_send_its_files_too() -> None:
    properties = {
        "write.data.path": "s3://other/data",
        "write.metadata.path": " ",
        "owner": "sales",
    }
    assert paths_of("s3://bucket/t", properties) == ("bucket/t/", "other/data/")


ALIASES = Aliases(
    (
        ("ofs://om/volume/", "s3://volume/"),
        ("ofs://om/volume/b/", "s3://b/"),
        ("oss://l/", "s3://l/"),
    )
)


@pytest.mark.parametrize(
    ("location", "resolved"),
    [
        ("ofs://om/volume/db/t", "s3://volume/db/t"),
        ("ofs://om/volume/b/t/", "s3://b/t/"),
        ("ofs://om/volume", "s3://volume/"),
        ("ofs://om/volume_2/t", "ofs://om/volume_2/t"),
        ("oss://l/t", "s3://l/t"),
        ("s3://l/t", "s3://l/t"),
    ],
)
def test_a_location_is_read_under_the_longest_name_that_fits(location: str, resolved: str) -> None:
    assert ALIASES.resolve(location) == resolved


def test_a_directory_has_all_of_its_names() -> None:
    properties = {"write.data.path": "oss://l/data"}
    assert ALIASES.paths_of("ofs://om/volume/t", properties) == (
        "volume/t/", "l/data/", "om/volume/t/",
    )  # fmt: skip
    assert Aliases().paths_of("s3://b/t", {}) == ("b/t/",)


@pytest.mark.parametrize(
    "spelling",
    [
        "OFS://om/volume/t",
        "ofs://om//volume/t/",
        "ofs://om/./volume/t",
        "ofs://om/other/../volume/t",
        "ofs://om/../volume/t",
    ],
)
def test_an_alias_holds_for_every_spelling_of_its_directory(spelling: str) -> None:
    assert ALIASES.paths_of(spelling, {})[0] == "volume/t/"
    assert ALIASES.paths_of("s3://l/t", {"write.data.path": spelling})[:2] == ("l/t/", "volume/t/")
    assert ALIASES.resolve(f"{spelling.rstrip('/')}/f") == "s3://volume/t/f"


@pytest.mark.parametrize(
    ("location", "resolved"),
    [
        ("ofs://om/volume/../other/t", "ofs://om/volume/../other/t"),
        ("ofs://om/volume/x/../t/f", "s3://volume/t/f"),
        ("ofs://om/volume/b/../t/f", "s3://volume/t/f"),
        ("ofs://om/volume/t//f", "s3://volume/t//f"),
        ("ofs://om/volume//t/f", "s3://volume/t/f"),
        ("ofs://om/volume/.hidden/..f", "s3://volume/.hidden/..f"),
        ("OFS://om/other/t", "OFS://om/other/t"),
    ],
)
def test_a_spelling_is_read_where_the_guards_see_it_and_names_of_files_are_kept(
    location: str, resolved: str
) -> None:
    assert ALIASES.resolve(location) == resolved


def test_a_name_that_begins_alike_is_another_directory() -> None:
    assert not overlap("bucket/t/", "bucket/t_2/")
    assert overlap("bucket/t/", "bucket/t/inner/")
    assert overlap("bucket/t/", "bucket/")


@given(st.lists(st.sampled_from(["a", "b", "c_1"]), min_size=1, max_size=5))
def test_a_directory_overlaps_with_all_that_it_lies_in(parts: list[str]) -> None:
    path = normalise_path("s3://" + "/".join(parts))
    assert len(ancestors_of(path)) == len(parts)
    assert all(overlap(path, ancestor) for ancestor in ancestors_of(path))


@pytest.mark.parametrize(
    ("location", "path", "spelt"),
    [
        ("s3://b/t", "s3a://b/t/data/x", "s3://b/t/data/x"),
        ("s3://b/t/", "s3://b/t/data//x", "s3://b/t/data//x"),
        ("file:///w/t", "file:/w/t/x y", "file:///w/t/x y"),
        ("/w/t", "file:/w/t//x", "/w/t//x"),
        ("hdfs://nn/w/t", "hdfs://nn:8020/w/t/x", "hdfs://nn/w/t/x"),
        ("s3://b/t", "s3://b/t_2/x", "s3://b/t_2/x"),
        ("s3://b/t", "elsewhere", "elsewhere"),
    ],
)
def test_a_path_in_the_location_is_written_from_the_locations_own_spelling_on(
    location: str, path: str, spelt: str
) -> None:
    assert list(respell(location, [path, path])) == [spelt, spelt]


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "2852039166", "[fe80::1]", "fe80::1%eth0", "::ffff:169.254.1.1",
     "fd00:ec2::254", "0xa9fea9fe", "0XA9FEA9FE", "0251.0376.0251.0376", "169.254.43518",
     "169.16689662", "0xa9.254.0xa9fe", "169.254.169.254.", "64:ff9b::a9fe:a9fe",
     "64:ff9b:1::169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9:fe:a9fe::",
     "64:ff9b:1:0:a9:fea9:fe00:0", "::169.254.169.254", "2002:a9fe:a9fe::1"],
)  # fmt: skip
def test_addresses_with_keys_of_a_machine_are_link_local(host: str) -> None:
    assert is_link_local(host)


@pytest.mark.parametrize("host", [
        "", "lake", "127.0.0.1", "10.0.0.7", "::1", "4294967296", "0x1ffffffff", "256.254.1.1",
        "169.254.1.1.1", "169.254.", "09.254.1.1", "169.254.65536", "64:ff9b::0a00:0007",
        "2002:0a00:0007::1", "1.2.3.lake", "169.254.169.2542",
    ]
)  # fmt: skip
def test_other_hosts_are_not(host: str) -> None:
    assert not is_link_local(host)
