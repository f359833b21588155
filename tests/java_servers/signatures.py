"""Leads requests for a signature to Nessie.

Iceberg asks for one where its REST specification says: at the path of the table. Nessie 0.99 knows
only a path of its own, which it names with the table under a property that Iceberg 1.12 no longer
reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tests.small_http import SmallHandler, serve_on_loopback

_SECONDS = 60
_KNOWN = ("region", "method", "uri", "headers", "body")  # of a request, to Nessie


@contextmanager
def serve_signatures(catalog: str) -> Iterator[str]:
    """The address to ask for signatures, which Nessie makes; the server ends with the context.

    ``catalog``: the address of Nessie's REST catalog.
    """
    parts = urlsplit(catalog)
    nessie = f"{parts.scheme}://{parts.netloc}"

    class Handler(SmallHandler):
        def do_POST(self) -> None:
            wanted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            table = self.path.removesuffix("/sign")
            config = _ask(f"{nessie}{table}", None)["config"]
            address = config["s3.signer.uri"] + config["s3.signer.endpoint"]
            asked = {name: wanted[name] for name in _KNOWN if name in wanted}
            self.answer(200, _ask(address, asked), {"Content-Type": "application/json"})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with serve_on_loopback(server) as address:
        yield f"{address}{parts.path}"


def _ask(address: str, content: object) -> dict[str, dict[str, str]]:
    body = None if content is None else json.dumps(content).encode()
    request = Request(address, body, {"Content-Type": "application/json"})  # noqa: S310 - our own
    with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - as above
        found: dict[str, dict[str, str]] = json.loads(answer.read())
        return found
