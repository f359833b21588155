"""What `maintainer doctor` says about object stores: a server that checks keys and rights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from sqlite3 import connect

import pytest
import requests
from pyiceberg.catalog import load_catalog

from tests.adapters.catalog.lake import ROWS, rows
from tests.adapters.catalog.test_s3 import S3Lake
from tests.adapters.catalog.test_trial import run
from tests.amazon import client, create_bucket, serve_amazon
from tests.small_http import SmallHandler, serve_on_loopback

pytestmark = pytest.mark.slow
WRONG = {"s3.access-key-id": "AKIAWRONGWRONGWRONG", "s3.secret-access-key": "quite-wrong-secret"}
READS_ONLY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Lake]:
    with serve_amazon() as endpoint:
        requests.post(f"{endpoint}/moto-api/reset", timeout=10)
        made = S3Lake(endpoint, tmp_path_factory.mktemp("lake"))
        create_bucket(endpoint, "lake")
        made.keys = made.give_keys("writer")
        writer = load_catalog("lake", **made.properties)
        writer.create_namespace("sales")
        writer.create_table("sales.orders", ROWS).append(rows(10))
        writer.close()
        yield made


def test_keys_that_read_and_list_are_fine(lake: S3Lake) -> None:
    with lake.enforcing():
        failures, fine = run(lake.properties)
    assert failures == []
    assert fine == [
        (
            "it answers and has 1 table in 1 namespace; 1 of 1 tried were read: metadata file, "
            "manifest list, a manifest, list of files"
        )
    ]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (WRONG, "InvalidAccessKeyId"),
        ({"s3.secret-access-key": "quite-wrong-secret"}, "SignatureDoesNotMatch"),
    ],
)
def test_wrong_keys_are_named_and_not_shown(
    lake: S3Lake, changed: dict[str, str], code: str
) -> None:
    with lake.enforcing():
        failures, _ = run({**lake.properties, **changed})
    assert len(failures) == 1
    assert failures[0].startswith(
        "cannot read the metadata file of sales.orders: s3://lake/warehouse/sales/orders/"
    )
    assert f": the storage answers 403 Forbidden: {code} (" in failures[0]
    assert failures[0].endswith(
        "To fix: check the keys: s3.access-key-id and s3.secret-access-key, or the AWS_... "
        "variables"
    )
    assert "quite-wrong-secret" not in failures[0]


def test_a_right_to_list_that_is_missing_is_found_without_an_orphan_search(lake: S3Lake) -> None:
    iam = client("iam", lake.endpoint)
    iam.create_user(UserName="reader")
    iam.put_user_policy(
        UserName="reader", PolicyName="reads", PolicyDocument=json.dumps(READS_ONLY)
    )
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    keys = {
        "s3.access-key-id": key["AccessKeyId"],
        "s3.secret-access-key": key["SecretAccessKey"],
    }
    with lake.enforcing():
        failures, fine = run({**lake.properties, **keys})
    assert failures == [
        (
            "cannot list the files of sales.orders in s3://lake/warehouse/sales/orders: the "
            "storage answers 403 Forbidden: AccessDenied (Access Denied). To fix: allow "
            "s3:GetObject on the files and s3:ListBucket on the bucket to these keys"
        )
    ]
    assert fine == []


def test_a_bucket_that_is_missing_is_told_from_a_missing_file(lake: S3Lake, tmp_path: Path) -> None:
    def point_to(bucket: str, old: str) -> list[str]:
        moved = S3Lake(lake.endpoint, tmp_path, lake.keys)
        (tmp_path / "catalog.db").write_bytes((lake.directory / "catalog.db").read_bytes())
        with connect(tmp_path / "catalog.db") as database:
            database.execute(
                "update iceberg_tables set metadata_location = replace(metadata_location, ?, ?)",
                (old, bucket),
            )
        database.close()
        return run(moved.properties)[0]

    (no_bucket,) = point_to("s3://laek/", "s3://lake/")
    assert "404 Not Found: NoSuchBucket (The specified bucket does not exist)" in no_bucket
    assert no_bucket.endswith("check the bucket's name in the table's location, and s3.endpoint")
    (no_file,) = point_to("/metadata/x", "/metadata/0")
    assert ".metadata.json: the file does not exist. To fix: restore the file" in no_file


@pytest.mark.parametrize(
    ("endpoint", "remedy"),
    [
        ("http://127.0.0.1:1", "check s3.endpoint, that the server runs, and"),
        ("https", "add the authority of the server's certificate to those of this machine"),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_named(lake: S3Lake, endpoint: str, remedy: str) -> None:
    if endpoint == "https":  # of a server that speaks http
        endpoint = lake.endpoint.replace("http:", "https:")
    failures, _ = run({**lake.properties, "s3.endpoint": endpoint})
    assert len(failures) == 1
    assert f"To fix: {remedy}" in failures[0]


@dataclass(frozen=True)
class Refusal:
    status: int
    code: str
    message: str


class RefusingServer(ThreadingHTTPServer):
    """Answers every request with one of Amazon's errors, which moto does not make."""

    daemon_threads = True

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(("127.0.0.1", 0), RefusingHandler)
        self.refusal = refusal


class RefusingHandler(SmallHandler):
    server: RefusingServer

    def do_HEAD(self) -> None:  # as Amazon answers it, without words
        self.answer(self.server.refusal.status)

    def do_GET(self) -> None:
        told = self.server.refusal
        self.answer(
            told.status,
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{told.code}</Code><Message>'
            f"{told.message}</Message><RequestId>1</RequestId></Error>".encode(),
        )


@pytest.mark.parametrize(
    ("refusal", "said", "remedy"),
    [
        (
            Refusal(
                403,
                "RequestTimeTooSkewed",
                "The difference between the request time and the current time is too large.",
            ),
            "answers 403 Forbidden: RequestTimeTooSkewed (The difference ",
            "set this machine's clock, for example with NTP",
        ),
        (
            Refusal(
                400,
                "AuthorizationHeaderMalformed",
                "The authorization header is malformed; the region 'eu-central-1' is wrong; "
                "expecting 'us-west-2'",
            ),
            "answers 400 Bad Request: AuthorizationHeaderMalformed (The ",
            "set s3.region to the region of the bucket",
        ),
        (
            Refusal(
                301,
                "PermanentRedirect",
                "The bucket you are attempting to access must be addressed using the specified "
                "endpoint.",
            ),
            "redirects to another address, as for a bucket of another region. ",
            "set s3.region to the region of the bucket",
        ),
        (
            Refusal(
                403,
                "ExpiredToken",
                "The provided token has expired.",
            ),
            "answers 403 Forbidden: ExpiredToken (The provided ",
            "give keys that have not expired: s3.access-key-id",
        ),
    ],
)
def test_what_amazon_refuses_is_told_in_its_words(
    lake: S3Lake, refusal: Refusal, said: str, remedy: str
) -> None:
    with serve_on_loopback(RefusingServer(refusal)) as endpoint:
        failures, _ = run({**lake.properties, "s3.endpoint": endpoint})
    assert len(failures) == 1
    assert f": the storage {said}" in failures[0]
    assert f"To fix: {remedy}" in failures[0]
