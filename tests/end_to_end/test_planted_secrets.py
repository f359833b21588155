"""Secrets that a test plants into the configuration are nowhere but in the process that needs them.

Searched are the objects of the cluster, the arguments and variables of all processes, the logs of
the daemon, of the driver and of Spark's events, a dump of the store, and what the API answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import (
    TABLE,
    TIMES,
    find_ended,
    find_free_port,
    find_running,
    find_store,
    write_policies,
)
from tests.end_to_end.places import Place, on_kubernetes, on_standalone
from tests.end_to_end.planted import dump, events, read_answers, read_processes
from tests.end_to_end.programs import serving, wait_for
from tests.postgres import PostgresServer
from tests.small_http import SmallHandler, serve_on_loopback

pytestmark = [
    pytest.mark.spark,
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.timeout(400),
]

PLANTED = {
    "catalog token": "planted-catalog-token",
    "catalog credential": "planted-client-credential",
    "catalog header": "planted-header",
    "S3 key": "planted-s3-access-key",
    "S3 secret": "planted-s3-secret-key",
    "JDBC password": "planted-jdbc-password",
    "Hadoop secret": "planted-hadoop-secret",
}
CONFIGURATION = """
catalogs:
  lake: {{type: sql, uri: '{uri}', warehouse: 'file://{home}/warehouse'}}
  vault:
    type: rest
    uri: '{vault}'
    token: planted-catalog-token
    credential: 'client:planted-client-credential'
    header.X-Api-Key: planted-header
    s3.access-key-id: planted-s3-access-key
    s3.secret-access-key: planted-s3-secret-key
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
spark:
  max_jobs: 1
  conf:
    spark.eventLog.enabled: 'true'
    spark.eventLog.dir: 'file://{home}/events'
    spark.eventLog.compress: 'false'
    spark.hadoop.fs.s3a.secret.key: planted-hadoop-secret
  link: {{port: {port}}}
"""


class _Vault(SmallHandler):
    """A catalog that takes no token."""

    def do_GET(self) -> None:
        error = {"message": "no", "type": "NotAuthorizedException", "code": 401}
        self.answer(HTTPStatus.UNAUTHORIZED, {"error": error})

    do_POST = do_GET


@contextmanager
def a_vault() -> Iterator[str]:
    with serve_on_loopback(ThreadingHTTPServer(("127.0.0.1", 0), _Vault)) as address:
        yield address


@pytest.mark.parametrize(
    "surround", [on_kubernetes, on_standalone], ids=lambda surround: surround.__name__
)
def test_planted_secrets_are_nowhere(
    tmp_path: Path,
    postgres_server: PostgresServer,
    surround: Callable[[Path], AbstractContextManager[Place]],
) -> None:
    home, server = tmp_path, postgres_server
    role = surround.__name__
    server.run(f"CREATE ROLE {role} LOGIN SUPERUSER PASSWORD 'planted-jdbc-password'")
    uri = server.create_database()
    lake = Lake(home, uri)
    lake.create(TABLE.name, files=200, partitions=100)
    (home / "events").mkdir()
    write_policies(lake)
    with ExitStack() as stack:
        place = stack.enter_context(surround(home))
        common = CONFIGURATION.format(
            home=home,
            uri=uri.replace(f"postgres:{server.password}", f"{role}:planted-jdbc-password"),
            vault=stack.enter_context(a_vault()),
            port=find_free_port(),
        )
        (home / "maintainer.yaml").write_text(TIMES + common + place.spark)
        daemon = stack.enter_context(serving(home))
        job, _ = wait_for(
            lambda: find_running(find_store(lake)),
            180,
            f"Spark to work on a job; said:\n{daemon.said()}",
        )
        executors = place.executor_pids()
        texts = place.objects() | read_processes(daemon, executors)
        ended = wait_for(lambda: find_ended(daemon, job.job_id), 180, "its end")
        assert ended["state"] == "succeeded", ended
        texts |= place.objects() | read_answers(daemon, job.job_id, TABLE)
        texts |= {
            "the daemon's log": daemon.said(),
            "the driver's log": place.driver_log(),
            "the store": dump(home / "store.db"),
        } | {f"event log {path.name}": path.read_text() for path in events(home)}
        secrets = PLANTED | {"start token": place.start_token()}
    lake.catalog.close()
    assert "planted-jdbc-password" in (home / "maintainer.yaml").read_text()
    assert [
        f"{what} in {where}"
        for where, text in texts.items()
        for what, secret in secrets.items()
        if secret in text
    ] == []
