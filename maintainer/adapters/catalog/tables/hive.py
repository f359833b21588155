"""A thread-safe Hive catalog. It is a separate module, because it imports Thrift."""

from __future__ import annotations

from collections.abc import Iterator
from threading import local
from typing import Final
from urllib.parse import urlparse

from pyiceberg.catalog import URI
from pyiceberg.catalog.hive import (
    HIVE_KERBEROS_AUTH,
    HIVE_KERBEROS_AUTH_DEFAULT,
    HIVE_KERBEROS_SERVICE_NAME,
    HIVE_KERBEROS_SERVICE_NAME_DEFAULT,
    HiveCatalog,
    _HiveClient,
)
from pyiceberg.utils.properties import property_as_bool
from thrift.transport import TSocket, TTransport

from maintainer.adapters.catalog.tables.foreign_tables import is_iceberg
from maintainer.adapters.catalog.tables.loading import READ_TIMEOUT_SECONDS

TABLES_AT_ONCE: Final = 1_000  # table descriptions in one answer of the metastore


class _ClientOfEachThread(local, _HiveClient):
    """One connection for each thread, with a timeout.

    In PyIceberg all threads share a connection, so that a thread may get the answer for another
    thread, and a thread may wait for ever.
    """

    def _init_thrift_transport(self) -> TTransport.TTransportBase:
        address = urlparse(self._uri)
        socket = TSocket.TSocket(address.hostname, address.port)
        socket.setTimeout(READ_TIMEOUT_SECONDS * 1000)
        if self._kerberos_auth:
            return TTransport.TSaslClientTransport(
                socket, host=address.hostname, service=self._kerberos_service_name
            )
        return TTransport.TBufferedTransport(socket)


class ThreadedHiveCatalog(HiveCatalog):
    """Loads the right table, even if several threads load tables."""

    @staticmethod
    def _create_hive_client(properties: dict[str, str]) -> _HiveClient:
        return _ClientOfEachThread(
            # as in PyIceberg, which takes the first URI without connecting
            properties[URI].split(",")[0],
            properties.get("ugi"),
            property_as_bool(properties, HIVE_KERBEROS_AUTH, HIVE_KERBEROS_AUTH_DEFAULT),
            properties.get(HIVE_KERBEROS_SERVICE_NAME, HIVE_KERBEROS_SERVICE_NAME_DEFAULT),
        )

    def foreign_locations(self, database: str) -> Iterator[tuple[str, str]]:
        """List locations, as KnowsForeign says.

        Spark stores the location of tables of its own formats in the properties of the SerDe.
        """
        with self._client as client:
            names = client.get_all_tables(db_name=database)
            for start in range(0, len(names), TABLES_AT_ONCE):
                for table in client.get_table_objects_by_name(
                    dbname=database, tbl_names=names[start : start + TABLES_AT_ONCE]
                ):
                    stored = table.sd
                    if stored is None or is_iceberg(table.parameters):
                        continue
                    properties = (
                        (stored.serdeInfo.parameters or {}) if stored.serdeInfo is not None else {}
                    )
                    for location in dict.fromkeys((stored.location, properties.get("path"))):
                        if location:
                            yield table.tableName, location
