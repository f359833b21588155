"""Whose commit it is that the proxy sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.torture.reading import breaks_if_unanswered

# Summaries as Iceberg 1.12 writes them.
COUNTS = {"manifests-created": "1", "manifests-kept": "4", "manifests-replaced": "0"}
APPEND = {"operation": "append", "added-data-files": "2", **COUNTS}
REWRITE = {"operation": "replace", "added-data-files": "1", "deleted-data-files": "6", **COUNTS}
MANIFESTS = {"operation": "replace", "entries-processed": "12", **COUNTS}


def write(directory: Path, name: str, summary: dict[str, str] | None, attempt: int = 1) -> str:
    metadata = (
        {"current-snapshot-id": None}
        if summary is None
        else {
            "current-snapshot-id": 7,
            "snapshots": [
                {
                    "snapshot-id": 7,
                    "summary": summary,
                    "manifest-list": f"file:/t/metadata/snap-7-{attempt}-b9f4.avro",
                }
            ],
        }
    )
    path = directory / f"{name}.metadata.json"
    path.write_text(json.dumps(metadata), encoding="utf-8")
    return f"file:{path}"


@pytest.mark.parametrize(
    ("summary", "attempt", "is_one"),
    [
        (None, 1, False),
        (APPEND, 2, False),
        (REWRITE, 1, False),
        (REWRITE, 2, True),
        (MANIFESTS, 1, True),
    ],
    ids=["no snapshot", "append", "rewrite of files", "raced rewrite", "rewrite of manifests"],
)
def test_only_a_rewrite_that_a_lost_answer_harms_is_taken_for_one(
    tmp_path: Path, summary: dict[str, str] | None, attempt: int, is_one: bool
) -> None:
    said = " ".join((write(tmp_path, "00002", summary, attempt), write(tmp_path, "00001", APPEND)))
    assert breaks_if_unanswered(said.encode()) is is_one
