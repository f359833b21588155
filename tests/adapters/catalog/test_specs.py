from __future__ import annotations

import json
from typing import Any

from maintainer.adapters.catalog.manifests.metadata import TableMetadata, parse_metadata
from maintainer.domain.inventory import PartitionField

STRUCT = {
    "type": "struct",
    "fields": [{"id": 3, "name": "day.of", "required": False, "type": "timestamptz"}],
}
NEWER = {
    "schema-id": 1,
    "type": "struct",
    "fields": [
        {"id": 1, "name": "number", "required": True, "type": "decimal(9, 2)"},
        {"id": 2, "name": "at", "required": False, "type": STRUCT},
        {
            "id": 4,
            "name": "tags",
            "required": False,
            "type": {
                "type": "list",
                "element-id": 5,
                "element": "string",
                "element-required": True,
            },
        },
    ],
}
OLDER = {
    "schema-id": 0,
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "required": True, "type": "decimal(9, 2)"}],
}
FIELDS = [
    {"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000},
    {"name": "day", "transform": "day", "source-id": 3, "field-id": 1001},
    {"name": "gone", "transform": "bucket[4]", "source-id": 9, "field-id": 1002},
    {"name": "many", "transform": "bucket[4]", "source-ids": [1, 3], "field-id": 1003},
]


def read(**document: Any) -> TableMetadata:
    base = {
        "format-version": 2,
        "table-uuid": "u",
        "location": "file:///t",
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": FIELDS}],
    }
    return parse_metadata(json.dumps(base | document).encode())


def fields_of(**document: Any) -> tuple[PartitionField, ...]:
    return read(**document).specs[0].describe().fields


def test_a_partition_field_is_reported_with_its_columns_present_name_and_type() -> None:
    assert fields_of(**{"current-schema-id": 1, "schemas": [OLDER, NEWER]}) == (
        PartitionField("id", "identity", ("number",), "decimal(9, 2)"),
        PartitionField("day", "day", ("at", "day.of"), "timestamptz"),
        PartitionField("gone", "bucket[4]"),
        PartitionField("many", "bucket[4]"),
    )


def test_the_one_schema_of_format_version_1_is_the_current_one() -> None:
    assert fields_of(schema={"type": "struct", "fields": OLDER["fields"]})[0] == PartitionField(
        "id", "identity", ("id",), "decimal(9, 2)"
    )


def test_without_a_schema_that_we_know_fields_have_no_column() -> None:
    for document in (
        {},
        {"current-schema-id": 7, "schemas": [OLDER, NEWER]},
        {"schemas": [{"schema-id": 0, "fields": [{"id": "x"}]}]},
    ):
        assert all(field.column == () for field in fields_of(**document))


def test_the_columns_of_the_current_schema_are_counted_without_lists_and_maps() -> None:
    assert read(**{"current-schema-id": 1, "schemas": [OLDER, NEWER]}).columns == 2
    assert read(**{"current-schema-id": 0, "schemas": [OLDER, NEWER]}).columns == 1
    assert read(**{"current-schema-id": 7, "schemas": [OLDER, NEWER]}).columns is None
    unpartitioned = {"schema": NEWER, "partition-specs": [{"spec-id": 0, "fields": []}]}
    assert read(**unpartitioned).columns == 2
