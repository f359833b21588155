"""PyIceberg's DynamoDB catalog so that it only observes; a module of its own, because importing it
brings AWS's library.
"""

from __future__ import annotations

from pyiceberg.catalog.dynamodb import DynamoDbCatalog
from pyiceberg.exceptions import GenericDynamoDbError


class ObservedDynamoDbCatalog(DynamoDbCatalog):
    """Where PyIceberg's own creates a table in DynamoDB as soon as it is opened, this one says that
    there is none.
    """

    def _ensure_catalog_table_exists_or_create(self) -> None:
        if not self._dynamodb_table_exists():
            message = (
                f"DynamoDB has no table {self.dynamodb_table_name}: nothing has created an "
                f"Iceberg catalog there"
            )
            raise GenericDynamoDbError(message)
