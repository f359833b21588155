"""The names of the table are those of the installed PyIceberg and of Iceberg's jar."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pyiceberg
import pytest

from docs.generator.catalog_properties import PAGE, write_proved, write_recipes, write_section
from maintainer.adapters.spark.catalogs import trusted_bundles
from maintainer.adapters.spark.catalogs.properties import ROWS, TYPES, Row, Use, find_row
from maintainer.adapters.spark.jars import default_directory, pinned_jars

# Read by other means than PyIceberg's own text: our aliases of Hadoop's settings, names that only
# Iceberg's Java library reads and that are therefore the same, and AWS's own client.
_NOT_PYICEBERGS = {
    "hadoop.",
    "s3.path-style-access",
    "s3.remote-signing-enabled",
    "dynamodb.endpoint",
    "adls.sas-token.",
}
_NOT_ICEBERGS = {
    # of Hive and Nessie, whose libraries read them
    "spark.hadoop.hive.metastore.sasl.enabled",
    "authentication.token",
    "header.",
    "spark.hadoop.",
    "adls.sas-token.ACCOUNT.dfs.core.windows.net",  # by its beginning
}


def test_pyiceberg_knows_each_name() -> None:
    root = Path(pyiceberg.__file__).parent
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for part in ("io", "catalog", "table")
        for path in (root / part).rglob("*.py")
    )
    # ssl and auth are nested settings, whose keys are arguments in Python
    unknown = [
        row.name
        for row in ROWS
        if row.name not in _NOT_PYICEBERGS
        and f'"{row.name}"' not in text
        and not (
            row.name.startswith(("ssl.", "auth."))
            and all(part in text for part in row.name.split("."))
        )
    ]
    assert unknown == ["header."]  # PyIceberg writes it with its quotes elsewhere


@pytest.mark.spark
def test_icebergs_jar_knows_each_name() -> None:
    with ZipFile(default_directory() / pinned_jars()[0].file_name) as jar:
        classes = b"".join(
            jar.read(name)
            for name in jar.namelist()
            if name.startswith(
                tuple(
                    f"org/apache/iceberg/{part}"
                    for part in ("aws/", "gcp/", "azure/", "aliyun/", "rest/", "Catalog", "jdbc/")
                )
            )
        )
    wanted = {name for row in ROWS for name in (*row.spark, *row.adds)}
    assert [name for name in sorted(wanted - _NOT_ICEBERGS) if name.encode() not in classes] == [
        "authentication.type"
    ]  # Nessie's


def test_a_row_is_either_translated_or_says_why_not() -> None:
    for row in ROWS:
        assert bool(row.spark) == (row.use in {Use.PASSED, Use.COMBINED}), row
        assert row.use is not Use.MISSING or row.note, row
        assert set(row.types) <= {*TYPES, "oss"}, row


def test_the_first_row_of_a_name_hides_no_later_one() -> None:
    for row in ROWS:
        tags = row.types or ("sql",)
        assert any(find_row(row.name, (tag,)) is row for tag in tags), row


def test_a_value_that_iceberg_does_not_have_is_not_translated() -> None:
    row = Row("a", Use.PASSED, ("b",), values={"x": "y"})
    assert row.translate("a", "X") == {"b": "y"}
    assert row.translate("a", "z") is None


def test_bundles_of_authorities_are_trusted_for_rest_catalogs() -> None:
    bundle = {"ssl.cabundle": "/ca.pem"}
    assert trusted_bundles({"uri": "https://c", **bundle}) == (Path("/ca.pem"),)
    assert trusted_bundles({"type": "sql", **bundle}) == ()


def test_the_documentation_has_the_tables() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert write_section() in page
    assert write_proved() in page
    assert write_recipes() in page
