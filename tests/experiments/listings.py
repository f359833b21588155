"""A listing of 1,000,000 objects: the daemon's, and one page after the other."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
from obstore.store import S3Store

from maintainer.adapters.catalog.files.listing import list_files
from tests.amazon import REGION
from tests.experiments.section import Section, factor, seconds
from tests.java_servers.programs import run_server

OBJECTS, PARTITIONS, BUCKET = 1_000_000, 154, "lake"
WORKERS = 8
KEY, SECRET = "listing", "listing-secret"
_LISTENS = r"bound on host 127\.0\.0\.1 and port (\d+)"


def run(root: Path, scale: float) -> Section:
    """At scale 1: a million objects in 154 partitions."""
    objects = max(PARTITIONS, round(OBJECTS * scale))
    _fill(root / "objects" / BUCKET, objects)
    with _serve(root) as endpoint:
        ours, found = _time(lambda: sum(map(len, list_files(_open(endpoint), *_TABLE, WORKERS))))
        peer, counted = _time(lambda: _list_pages(endpoint))
        one, part = _time(lambda: sum(map(len, list_files(_open(endpoint), *_PARTITION, WORKERS))))
    shutil.rmtree(root / "objects")
    assert found == counted == objects, (found, counted)
    return Section(
        f"Listing {objects:,} objects",
        f"The {objects:,} objects of a table with {PARTITIONS} partitions are listed on an S3 "
        "server (VersityGW) of this machine, which uses one of its two cores. Published: a listing "
        "of 2.7 million files in 154 partitions takes 7.3 to 7.4 s in a metadata service on "
        "RocksDB; an object store returns 1,000 names at a time.",
        ("listing", "objects", "time", "objects per second"),
        (
            (
                "by the daemon, parallel ranges of names",
                f"{found:,}",
                seconds(ours),
                f"{found / ours:,.0f}",
            ),
            ("by boto3, page after page", f"{counted:,}", seconds(peer), f"{counted / peer:,.0f}"),
            ("by the daemon, one partition", f"{part:,}", seconds(one), f"{part / one:,.0f}"),
            ("published: metadata service on RocksDB", "2,700,000", "7.35 s", "367,000"),
        ),
        (f"Page after page took {factor(peer / ours)} the time of the daemon's listing.",),
    )


_TABLE = ("table", f"s3://{BUCKET}/table")
_PARTITION = ("table/data/day=000", f"s3://{BUCKET}/table/data/day=000")


def _fill(bucket: Path, objects: int) -> None:
    """Each file is an object of the server."""
    for day in range(PARTITIONS):
        (bucket / "table" / "data" / f"day={day:03}").mkdir(parents=True)
    for number in range(objects):
        path = f"{bucket}/table/data/day={number % PARTITIONS:03}/{number:07}.parquet"
        file = os.open(path, os.O_CREAT | os.O_WRONLY)
        os.write(file, b"x")
        os.close(file)


@contextmanager
def _serve(root: Path) -> Iterator[str]:
    program = os.environ.get("VERSITYGW") or shutil.which("versitygw")
    if program is None:
        message = "the listing needs versitygw: `make experiments` builds it where Go is installed"
        raise FileNotFoundError(message)
    command = [
        program,
        "--region",
        REGION,
        "--port",
        f"127.0.0.1:{_find_port()}",
        "--access",
        KEY,
        "--secret",
        SECRET,
    ]
    command += ["posix", "--nometa", str(root / "objects")]
    with run_server(command, root / "versitygw.log", _LISTENS) as port:
        yield f"http://127.0.0.1:{port}"


def _find_port() -> int:
    """A port that is free now; the server cannot say which one it has taken itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _open(endpoint: str) -> S3Store:
    return S3Store(
        BUCKET,
        endpoint=endpoint,
        access_key_id=KEY,
        secret_access_key=SECRET,
        region=REGION,
        client_options={"allow_http": True},
    )


def _list_pages(endpoint: str) -> int:
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name=REGION,
    )
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="table/")
    return sum(len(page.get("Contents", ())) for page in pages)


def _time(work: Callable[[], int]) -> tuple[float, int]:
    started = time.monotonic()
    result = work()
    return time.monotonic() - started, result
