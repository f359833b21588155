from __future__ import annotations

import pytest

from maintainer.measure.history import name_writer
from tests.samples import snapshot

COUNTS = {
    "added-data-files": "1",
    "added-records": "3",
    "added-files-size": "1204",
    "changed-partition-count": "1",
    "total-data-files": "7",
    "total-records": "21",
    "total-files-size": "8428",
}
JAVA = {**COUNTS, "iceberg-version": "Apache Iceberg 1.10.0 (commit 2114bf6)"}


@pytest.mark.parametrize(
    ("summary", "name"),
    [
        pytest.param(
            {**JAVA, "engine-name": "trino", "engine-version": "468", "trino_query_id": "2026_1"},
            "trino",
            id="Trino",
        ),
        pytest.param(
            {
                **JAVA,
                "spark.app.id": "local-1",
                "app-id": "local-1",
                "engine-name": "spark",
                "engine-version": "3.5.5",
            },
            "spark",
            id="Spark",
        ),
        pytest.param({**COUNTS, "dremio.query.id": "1b2c"}, "dremio", id="Dremio"),
        pytest.param(
            {**COUNTS, "risingwave.commit.epoch": "8246112", "risingwave.commit.kind": "data"},
            "risingwave",
            id="RisingWave",
        ),
        pytest.param(
            {**COUNTS, "trino_query_id": "20260428_011720_00016_bvnah"}, "trino", id="Athena"
        ),
        pytest.param({**COUNTS, "engine-name": "snowflake"}, "snowflake", id="any named engine"),
    ],
)
def test_an_engine_with_a_key_of_its_own_is_recognised(summary: dict[str, str], name: str) -> None:
    assert name_writer(snapshot(1, summary=summary)) == name


@pytest.mark.parametrize("engine", ["Hive", "Impala", "StarRocks", "Doris"])
def test_an_engine_on_the_java_library_without_a_name_is_shown_as_the_library(engine: str) -> None:
    assert name_writer(snapshot(1, summary=JAVA)) == "iceberg-java", engine


@pytest.mark.parametrize(
    "summary",
    [
        pytest.param(COUNTS, id="ClickHouse"),
        pytest.param({"operation": "append"}, id="DuckDB"),
    ],
)
def test_an_engine_without_any_key_is_not_guessed(summary: dict[str, str]) -> None:
    assert name_writer(snapshot(1, summary=summary)) == "unnamed"
