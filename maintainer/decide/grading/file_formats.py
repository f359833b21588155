"""Findings about how data files are written: their formats and their compression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from maintainer.domain.health import Band, Finding, TableHealth

FORMATS: Final = "file_formats"  # the number of formats
BY_ROW: Final = "row_format_ratio"  # the share of data files in a row format
CODEC: Final = "compression_codec"
_ROW_FORMAT: Final = "avro"  # a query for one column must read all columns
_DEFAULT: Final = "parquet"
_MOST_BY_ROW: Final = 0.5  # of the data files
_NO_COMPRESSION: Final = frozenset({"uncompressed", "none"})


def find_format_findings(health: TableHealth) -> Iterator[Finding]:
    """Mixed formats, data by row, and no compression.

    No rule selects files for that, so people must change the table's properties.
    """
    written = health.properties.get("write.format.default", _DEFAULT).lower()
    files = {name: count for name, count in health.formats.items() if count > 0}
    total, by_row = sum(files.values()), files.get(_ROW_FORMAT, 0)
    if by_row > _MOST_BY_ROW * total:
        cure = (
            f"write.format.default is {_ROW_FORMAT}; set it to {_DEFAULT}"
            if written == _ROW_FORMAT
            else f"a rewrite writes {written}"
        )
        yield _note(
            BY_ROW,
            by_row / total,
            _MOST_BY_ROW,
            f"{by_row:,} of {total:,} data files are {_ROW_FORMAT}, of which a query reads every "
            f"column; {cure}",
        )
    elif len(files) > 1:
        counts = ", ".join(
            f"{count:,} {name}" for name, count in sorted(files.items(), key=lambda kv: -kv[1])
        )
        yield _note(
            FORMATS,
            len(files),
            1,
            f"data files are in {len(files)} formats ({counts}); new ones are {written}",
        )
    codec = f"write.{written}.compression-codec"
    if health.properties.get(codec, "").lower() in _NO_COMPRESSION:
        yield _note(
            CODEC, 1, 0, f"{codec} is {health.properties[codec]}: new files are not compressed"
        )


def _note(metric: str, observed: float, bound: float, sentence: str) -> Finding:
    return Finding(metric, observed, bound, Band.WATCH, is_actionable=False, sentence=sentence)
