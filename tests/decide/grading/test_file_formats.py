from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.decide.grading.bands import grade
from maintainer.domain.health import Band
from maintainer.domain.policy import Policy
from maintainer.domain.units import MIB
from tests.samples import NOW, health_of_partitions

GOOD = health_of_partitions({"a": [500 * MIB] * 20})


BY_ROW = "data files are avro, of which a query reads every column"


@pytest.mark.parametrize(
    ("formats", "properties", "metric", "sentence"),
    [
        (
            {"avro": 12, "orc": 0, "parquet": 1388},
            {},
            "file_formats",
            "data files are in 2 formats (1,388 parquet, 12 avro); new ones are parquet",
        ),
        (
            {"avro": 1200, "parquet": 200},
            {},
            "row_format_ratio",
            f"1,200 of 1,400 {BY_ROW}; a rewrite writes parquet",
        ),
        (
            {"avro": 20},
            {"write.format.default": "AVRO"},
            "row_format_ratio",
            f"20 of 20 {BY_ROW}; write.format.default is avro; set it to parquet",
        ),
        (
            {"avro": 10, "parquet": 10},
            {"write.format.default": "orc"},
            "file_formats",
            "data files are in 2 formats (10 avro, 10 parquet); new ones are orc",
        ),
        (
            {"parquet": 20},
            {"write.parquet.compression-codec": "Uncompressed"},
            "compression_codec",
            "write.parquet.compression-codec is Uncompressed: new files are not compressed",
        ),
    ],
)
def test_formats_and_compression_are_noted_and_change_no_band(
    formats: dict[str, int], properties: dict[str, str], metric: str, sentence: str
) -> None:
    graded = grade(replace(GOOD, formats=formats, properties=properties), Policy(), NOW)
    (finding,) = graded.findings
    assert finding.sentence == sentence
    assert finding.metric == metric
    assert (graded.band, graded.reason) == (Band.HEALTHY, "No limit is exceeded.")
    assert not finding.is_actionable


@pytest.mark.parametrize(
    ("formats", "properties"),
    [
        ({"parquet": 20}, {"write.parquet.compression-codec": "zstd"}),
        ({"parquet": 20}, {"write.orc.compression-codec": "none"}),
        ({"orc": 20, "avro": 0}, {"write.format.default": "orc"}),
        ({}, {}),
    ],
)
def test_one_compressed_format_by_column_is_not_worth_a_word(
    formats: dict[str, int], properties: dict[str, str]
) -> None:
    assert (
        grade(replace(GOOD, formats=formats, properties=properties), Policy(), NOW).findings == ()
    )
