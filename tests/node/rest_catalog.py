"""A REST catalog that takes commits: PyIceberg's SQL catalog behind Iceberg's REST protocol.

It has what maintenance needs: lists, tables and commits to one table.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.table import CommitTableRequest

GATE_SECONDS = 1800  # a test that failed leaves nobody waiting
Gates = Mapping[str, threading.Event]  # by the name of a table, whose new snapshots wait for it


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, catalog: Catalog, gates: Gates) -> None:
        super().__init__((host, 0), _Handler)
        self.catalog, self.gates = catalog, gates
        self.mutex = threading.Lock()  # one request at a time: no commit is lost


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve(b"")

    def do_HEAD(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        gate = self.server.gates.get(self.path.rpartition("/")[2])
        if gate is not None and b'"add-snapshot"' in body:
            gate.wait(GATE_SECONDS)
        self._serve(body)

    def log_message(self, *_arguments: object) -> None:
        """Write no line for each request."""

    def _serve(self, body: bytes) -> None:
        try:
            with self.server.mutex:
                answer = self._answer(body)
        except NoSuchTableError as error:
            self._refuse(HTTPStatus.NOT_FOUND, error)
        except CommitFailedException as error:
            self._refuse(HTTPStatus.CONFLICT, error)
        except Exception as error:  # noqa: BLE001 - the client reports it
            self._refuse(HTTPStatus.BAD_REQUEST, error)
        else:
            self._send(HTTPStatus.NO_CONTENT if answer is None else HTTPStatus.OK, answer)

    def _answer(self, body: bytes) -> object:
        catalog = self.server.catalog
        levels = [unquote(part) for part in urlsplit(self.path).path.split("/")[2:]]
        match self.command, levels:
            case "GET", ["config"]:
                return {"defaults": {}, "overrides": {}}
            case "GET", ["namespaces"]:
                return {"namespaces": [list(name) for name in catalog.list_namespaces()]}
            case "GET", ["namespaces", namespace]:
                return {"namespace": [namespace], "properties": {}}
            case "GET", ["namespaces", namespace, "tables"]:
                names = catalog.list_tables(namespace)
                found = [{"namespace": [*name[:-1]], "name": name[-1]} for name in names]
                return {"identifiers": found}
            case "GET", ["namespaces", namespace, "tables", name]:
                return self._describe((namespace, name))
            case "HEAD", ["namespaces", namespace, "tables", name]:
                catalog.load_table((namespace, name))
                return None
            case "POST", ["namespaces", namespace, "tables", name]:
                request = CommitTableRequest.model_validate(
                    {"identifier": {"namespace": [namespace], "name": name}} | json.loads(body)
                )
                table = catalog.load_table((namespace, name))
                catalog.commit_table(table, request.requirements, request.updates)
                return self._describe((namespace, name))
            case "POST", ["namespaces", _, "tables", _, "metrics"]:
                return None
            case _:
                message = f"{self.command} {self.path} is not served here"
                raise ValueError(message)

    def _describe(self, name: tuple[str, str]) -> object:
        table = self.server.catalog.load_table(name)
        return {
            "metadata-location": table.metadata_location,
            "metadata": json.loads(table.metadata.model_dump_json()),
            "config": {},
        }

    def _refuse(self, status: HTTPStatus, error: Exception) -> None:
        kind = {HTTPStatus.NOT_FOUND: "NoSuchTableException"}.get(status, "CommitFailedException")
        error_document = {"message": str(error), "type": kind, "code": int(status)}
        self._send(status, {"error": error_document})

    def _send(self, status: HTTPStatus, document: object) -> None:
        content = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def serve_catalog(host: str, catalog: Catalog, gates: Gates) -> Iterator[str]:
    """Return the address of a server that ends with the context."""
    with _Server(host, catalog, gates) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
