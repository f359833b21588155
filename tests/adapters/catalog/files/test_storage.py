from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import obstore
import pytest

from maintainer.adapters.catalog.files import storage
from maintainer.adapters.catalog.files.storage import Bucket, Storages, translate

KEYS = {
    "s3.access-key-id": "an-id",
    "s3.secret-access-key": "a-secret",
    "s3.region": "eu-central-1",
}


def config(
    location: str, properties: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> dict[str, object] | None:
    found = translate(location, properties, environment or {})
    return None if found is None else dict(found[0].config)


def test_pyicebergs_names_become_obstores() -> None:
    found = translate(
        "s3://bucket/db/t/metadata/a.avro",
        {
            **KEYS,
            "s3.session-token": "a-token",
            "s3.endpoint": "http://127.0.0.1:9000",
            "s3.request-timeout": "7",
        },
        {},
    )
    assert found is not None
    bucket, path = found
    assert (bucket.kind, bucket.root, path) == ("s3", "bucket", "db/t/metadata/a.avro")
    assert dict(bucket.config) == {
        "access_key_id": "an-id", "secret_access_key": "a-secret", "session_token": "a-token",
        "region": "eu-central-1", "endpoint": "http://127.0.0.1:9000",
    }  # fmt: skip
    assert dict(bucket.client)["allow_http"] is True
    assert dict(bucket.client)["timeout"] == timedelta(seconds=7)


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_the_names_of_the_client_do_as_well(scheme: str) -> None:
    named = {
        "client.access-key-id": "an-id",
        "client.secret-access-key": "a-secret",
        "client.region": "eu-central-1",
        "client.session-token": "a-token",
    }
    assert config(f"{scheme}://bucket/a", named) == {
        "access_key_id": "an-id", "secret_access_key": "a-secret", "region": "eu-central-1",
        "session_token": "a-token",
    }  # fmt: skip


def test_a_virtual_host_is_part_of_the_endpoint() -> None:
    found = config(
        "s3://bucket/a",
        {**KEYS, "s3.endpoint": "https://store.example:443", "s3.force-virtual-addressing": "true"},
    )
    assert found is not None
    assert (found["endpoint"], found["virtual_hosted_style_request"]) == (
        "https://bucket.store.example:443",
        True,
    )


def test_an_account_and_its_vended_token_are_found_in_the_location() -> None:
    expected = {"account_name": "acc", "sas_key": "sv=1"}
    for name in ("adls.sas-token", "adls.sas-token.acc", "adls.sas-token.acc.dfs.core.windows.net"):
        assert config("abfss://box@acc.dfs.core.windows.net/a", {name: "?sv=1"}) == expected
    assert config(
        "abfss://box@acc.dfs.core.windows.net/a",
        {"adls.account-name": "acc", "adls.account-key": "k"},
    ) == {
        "account_name": "acc",
        "account_key": "k",
    }
    assert config("gs://box/a", {"gcs.oauth2.token": "t"}) == {"bearer_token": "t"}


@pytest.mark.parametrize(
    ("location", "properties", "environment"),
    [
        ("s3://bucket/a", {}, {}),  # who signs in is not said
        ("s3://bucket/a", {"s3.region": "r"}, {"AWS_PROFILE": "work",
        "AWS_ACCESS_KEY_ID": "an-id"}),
        # where the bucket is, PyIceberg asks
        ("s3://bucket/a", {name: text for name, text in KEYS.items() if name != "s3.region"}, {}),
        ("s3://bucket/a", {**KEYS, "s3.role-arn": "arn:aws:iam::1:role/r"}, {}),
        ("s3://bucket/a", {**KEYS, "client.profile-name": "work"}, {}),
        ("s3://bucket/a", {**KEYS, "s3.signer": "S3V4RestSigner"}, {}),
        ("s3://bucket/a", {**KEYS, "s3.remote-signing-enabled": "true"}, {}),
        ("s3://bucket/a", {**KEYS, "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"}, {}),
        ("s3://bucket//a", KEYS, {}),  # a key that begins with a slash
        ("s3://bucket/a%20b", KEYS, {}),
        ("s3://bucket/a/../b", KEYS, {}),
        ("s3://bucket/a/.", KEYS, {}),
        ("s3://bucket/", KEYS, {}),
        ("abfss://box@acc.dfs.core.windows.net/a", {}, {}),
        ("abfss://box@acc.dfs.core.windows.net/a", {"adls.connection-string": "x",
        "adls.account-key": "k"}, {}),
        ("gs://box/a", {}, {}),
        ("hdfs://name-node/a", {}, {}),
        ("file://another-host/a", {}, {}),
    ],
)  # fmt: skip
def test_what_obstore_has_no_words_for_is_left_to_pyiceberg(
    location: str, properties: dict[str, str], environment: dict[str, str]
) -> None:
    assert translate(location, properties, environment) is None


def test_the_environment_signs_in_where_the_properties_do_not() -> None:
    assert config(
        "s3://bucket/a", {"s3.region": "r"}, {"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}
    ) == {"region": "r"}
    assert config("s3://bucket/a", {"s3.anonymous": "true", "s3.region": "r"}) == {
        "region": "r",
        "skip_signature": True,
    }
    assert config("gs://box/a", {}, {"GOOGLE_APPLICATION_CREDENTIALS": "/key.json"}) == {}


@pytest.mark.parametrize(
    "name", ["plain.avro", "a b.avro", "ü.avro", "day=1/x.avro", "a:b+c,d&e.avro", ".hidden/x..y"]
)
def test_a_local_file_is_found_under_its_own_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"content")
    for location in (str(file), f"file:{file}", f"file://{file}"):
        found = Storages().find(location, {})
        assert found is not None
        assert bytes(obstore.get(*found).bytes()) == b"content"


def test_one_store_serves_all_files_of_a_bucket_until_others_need_the_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage, "MAX_STORES", 2)
    storages = Storages()

    def open_store(bucket: str, token: str = "") -> object:
        found = storages.find(f"s3://{bucket}/a", {**KEYS, "s3.session-token": token})
        assert found is not None
        return found[0]

    first = open_store("one")
    assert open_store("one") is first
    assert open_store("one", "another-token") is not first
    assert open_store("one") is first, "used again, so it stays"
    open_store("two")
    assert open_store("one") is first
    open_store("three")
    open_store("four")
    assert open_store("one") is not first


def test_every_kind_of_store_can_be_opened() -> None:
    for location, properties in (
        ("s3://b/a", KEYS), ("gs://b/a", {"gcs.oauth2.token": "t"}), ("abfs://c@acc.x.net/a",
        {"adls.sas-token": "sv=1"}), ("/a", {}),
    ):  # fmt: skip
        assert Storages().find(location, properties) is not None


def test_secrets_are_not_written_out() -> None:
    found = translate("s3://bucket/a", KEYS, {})
    assert found is not None
    assert isinstance(found[0], Bucket)
    assert "a-secret" not in repr(found)
