"""A read-only DynamoDB catalog. It is a separate module, because it imports AWS's library."""

from __future__ import annotations

from pyiceberg.catalog.dynamodb import DynamoDbCatalog
from pyiceberg.exceptions import GenericDynamoDbError


class ObservedDynamoDbCatalog(DynamoDbCatalog):
    """Reports a missing DynamoDB table; PyIceberg's class would create it."""

    def _ensure_catalog_table_exists_or_create(self) -> None:
        if not self._dynamodb_table_exists():
            raise GenericDynamoDbError(
                f"DynamoDB has no table {self.dynamodb_table_name}: nothing has created an "
                f"Iceberg catalog there"
            )
