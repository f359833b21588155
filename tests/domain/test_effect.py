from __future__ import annotations

from dataclasses import replace

from tests.api.nouns import EFFECT


def test_each_file_and_manifest_that_is_gone_saves_a_scan_one_request() -> None:
    effect = replace(EFFECT, files_removed=98, delete_files_removed=10, manifests_removed=6)
    assert effect.requests_saved == 114
