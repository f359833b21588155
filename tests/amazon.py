"""A server of Amazon's protocols, on the loopback unless asked: moto, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
ACCESS_KEY_ID, SECRET_ACCESS_KEY = "admin", "admin-secret"  # which the server takes as it takes any


@contextmanager
def serve_amazon(host: str = "127.0.0.1") -> Iterator[str]:
    """The address of a server that ends with the context."""
    server = ThreadedMotoServer(host, 0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def client(service: str, endpoint: str) -> Any:
    """Amazon's own client of a service."""
    keys = {"aws_access_key_id": ACCESS_KEY_ID, "aws_secret_access_key": SECRET_ACCESS_KEY}
    return boto3.client(service, endpoint_url=endpoint, region_name=REGION, **keys)


def create_bucket(endpoint: str, name: str) -> None:
    """An empty bucket."""
    client("s3", endpoint).create_bucket(
        Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
