"""A read-only DynamoDB catalog; a module of its own, because importing it imports AWS's library."""

from __future__ import annotations

from pyiceberg.catalog.dynamodb import DynamoDbCatalog
from pyiceberg.exceptions import GenericDynamoDbError


class ObservedDynamoDbCatalog(DynamoDbCatalog):
    """Reports a missing DynamoDB table, where PyIceberg's own class would create it."""

    def _ensure_catalog_table_exists_or_create(self) -> None:
        if not self._dynamodb_table_exists():
            raise GenericDynamoDbError(
                f"DynamoDB has no table {self.dynamodb_table_name}: nothing has created an "
                f"Iceberg catalog there"
            )
